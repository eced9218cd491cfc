import { batchOf } from '../batch/batch.ts'
import { type Adjustment, inRuns } from '../batch/change-runs.ts'
import { InvalidReply, replay, validated } from '../batch/replay.ts'
import {
  type CallGroup,
  type CallOptions,
  type Change,
  changedState,
  type DecideOptions,
  type GroupVerdict,
  type StateId,
} from '../store.ts'
import { programsOrSwap } from '../families/programs-or-swap.ts'
import { compareAndSwapStore } from '../families/compare-and-swap.ts'
import { decideAroundLocks, swapAround } from './around-locked.ts'
import { adjustmentValues, arrayText, digestsOf, hasFunctions, requestOf } from './encode.ts'
import { classify } from './failures.ts'
import { type FunctionNames, functionNames } from './functions.ts'
import { createLanes, type Locking } from './lanes.ts'
import { migrate } from './migrate.ts'
import type { Chosen, PostgresStore } from './options.ts'
import { createQuery } from './query.ts'
import { numbersOf, replyOf } from './reply.ts'
import { serverCheck, SETTINGS } from './server-check.ts'
import { statementsOf } from './statements.ts'
import { createSweeper } from './sweeper.ts'
import { swapBackend } from './swap-states.ts'

const UNBLOCK = -1

/** Functions in the database decide: one statement for each call. @param names names of another version's functions, for a test of two */
export function programStore(options: Chosen, names: FunctionNames = functionNames(options.table)): PostgresStore {
  const { client, table, unlogged, onContention, sweepEveryMs, maxInFlight, clock, random } = options
  const statements = statementsOf(table, names)
  const lanes = createLanes(client, maxInFlight, clock)
  const query = createQuery(lanes, clock, random)
  const check = serverCheck(client, options.onWarning)

  const sweeper = createSweeper(sweepEveryMs, clock, random, async (first, pages, deadline) => {
    const bound = deadline === undefined ? undefined : { deadline }
    const [row] = await query(statements.sweep, [String(first), String(pages)], bound, 'none')
    const [gone = 0, more = 0] = numbersOf(String(row?.['reply']))
    return { gone, more: more === 1 }
  })

  const run = async (
    groups: readonly CallGroup[],
    callOptions: DecideOptions | undefined,
    locking: Locking,
  ): Promise<readonly GroupVerdict[]> => {
    const charging = locking !== 'none'
    const batch = batchOf(groups)
    const request = requestOf(groups, batch, nowOf(callOptions), charging)
    const [row] = await query(statements[request.program], (tries) => request.values(waitingAt(tries)), callOptions, locking)
    return validated('postgres: the function', row?.['reply'], () => {
      const found = replyOf(row?.['reply'], groups, batch, request)
      const verdicts = replay(groups, batch, found, charging)
      if (!found.isSame(verdicts)) throw new InvalidReply()
      return verdicts
    })
  }

  const swap = compareAndSwapStore(swapBackend(client, table, lanes), { clock, random })

  const charge = decideAroundLocks(onContention, query, statements.locked)

  const block = (ids: readonly StateId[], length: number, callOptions: CallOptions | undefined): Promise<unknown> =>
    query(statements.block, [nowOf(callOptions), String(length), arrayText(digestsOf(ids))], callOptions, 'wait')

  const make = (alike: readonly Change[], callOptions: CallOptions | undefined): Promise<unknown> => {
    const [first] = alike as [Change]
    if (first.kind === 'adjust') {
      const values = [nowOf(callOptions), String(first.receipt ?? -1), ...adjustmentValues(alike as readonly Adjustment[])]
      return query(statements.adjust, values, callOptions, 'wait')
    }
    const ids = alike.map(changedState)
    if (first.kind !== 'reset') return block(ids, first.kind === 'block' ? first.micros : UNBLOCK, callOptions)
    return query(statements.reset, [arrayText(digestsOf(ids))], callOptions, 'wait')
  }

  const programs: PostgresStore = {
    name: 'postgres',
    capabilities: { clock: 'server', atomicBatch: 'any', changes: ['adjust', 'block', 'unblock', 'reset'], sync: false },
    decide: async (groups, callOptions) => {
      if (callOptions?.charge === false) return run(groups, callOptions, 'none')
      const verdicts = await charge(groups, callOptions, (some, locking) => run(some, callOptions, locking))
      if (callOptions?.now === undefined) sweeper.decided()
      return verdicts
    },
    change: (changes, callOptions) => inRuns(changes, async (alike) => void (await make(alike, callOptions))),
    sweep: (callOptions) => sweeper.all(callOptions?.deadline),
    ready: async (callOptions) => {
      await run([], callOptions, 'none')
      check(await query(SETTINGS, [], callOptions, 'none'))
    },
    migrate: (migrateOptions) =>
      migrate(client, { ...migrateOptions, table, unlogged }).catch((error: unknown) => Promise.reject(classify(error))),
    close: async () => {},
  }
  return programsOrSwap(programs, { ...swap, decide: swapAround(swap, charge) }, hasFunctions)
}

/** The time to decide at, in microseconds; 0: the server's own. */
function nowOf(options: CallOptions | undefined): string {
  return String(options?.now ?? 0)
}

/** How the function waits: for rows and, from the second null reply on, also for rows that others are inserting. */
function waitingAt(tries: number): string {
  return tries < 2 ? '1' : '2'
}
