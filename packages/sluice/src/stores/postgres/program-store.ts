import { batchOf } from '../batch/batch.ts'
import { type Adjustment, inRuns } from '../batch/change-runs.ts'
import { InvalidReply, replay, validated } from '../batch/replay.ts'
import type { CallGroup, CallOptions, Change, ChangeResult, DecideOptions, HoldChange, StateId } from '../store.ts'
import { changedState, isOfHold } from '../store.ts'
import { decideByShares, type SharesUsed, withoutShares } from '../by-shares.ts'
import { plannedGroups } from '../group-options.ts'
import { hasShares, REGION_MS } from '../region-port.ts'
import { programsOrSwap } from '../families/programs-or-swap.ts'
import { compareAndSwapStore } from '../families/compare-and-swap.ts'
import { decideAroundLocks, swapAround } from './around-locked.ts'
import { adjustmentValues, arrayText, digestsOf, hasFunctions, isLog, isOther, type Release, releaseValues, requestOf } from './encode.ts'
import { classify } from './failures.ts'
import { type FunctionNames, functionNames } from './functions.ts'
import { createLanes, type Locking } from './lanes.ts'
import { migrate } from './migrate.ts'
import type { Chosen, PostgresStore } from './options.ts'
import { createQuery } from './query.ts'
import { numbersOf, replyOf } from './reply.ts'
import { guardValues, throwIfStale } from './region-guard.ts'
import { regionPort } from './region-programs.ts'
import { serverCheck, SETTINGS } from './server-check.ts'
import { statementsOf } from './statements.ts'
import { settleResults, settleValues } from './settle.ts'
import { createSweeper } from './sweeper.ts'
import { stateBackend } from './swap-states.ts'

const UNBLOCK = -1
/** The parameter `waiting` of `consume` if the same statement has locked the rows already. `consume` then waits for no lock. */
const LOCKED = '3'
const CHANGES = ['adjust', 'release', 'settle', 'extend', 'block', 'unblock', 'reset'] as const

/**
 * A store in which functions in the database decide, with one statement for each call. @param names those of another version's functions,
 * for a test
 */
export function programStore(options: Chosen, names: FunctionNames = functionNames(options.table)): PostgresStore {
  const { client, table, unlogged, onContention, sweepEveryMs, maxInFlight, clock, random } = options
  const statements = statementsOf(table, names)
  const lanes = createLanes(client, maxInFlight, clock)
  const query = createQuery(lanes, clock, random)
  const regionQuery: typeof query = (statement, values, callOptions = { deadline: clock.monotonic() + REGION_MS }, ...others) =>
    query(statement, values, callOptions, ...others)
  const check = serverCheck(client, options.onWarning)

  const sweeper = createSweeper(sweepEveryMs, clock, random, async (first, pages, bound) => {
    const [row] = await query(statements.sweep, [String(first), String(pages)], bound, 'none')
    const [gone = 0, more = 0] = numbersOf(String(row?.['reply']))
    return { gone, more: more === 1 }
  })

  const run = async (wanted: readonly CallGroup[], callOptions: DecideOptions | undefined, locking: Locking, used?: SharesUsed) => {
    const groups = plannedGroups(wanted)
    const charging = locking !== 'none'
    const batch = batchOf(groups, isLog)
    const now = nowOf(callOptions)
    const request = requestOf(groups, batch, now, charging)
    const guard = used && guardValues(request, used)
    const values = (tries: number): readonly string[] => {
      if (guard === undefined) return request.values(waitingAt(tries))
      const waiting = request.program === 'consume' && tries < 2 ? LOCKED : waitingAt(tries)
      return [now, String(charging), ...guard, ...request.values(waiting)]
    }
    const [row] = await query(
      statements[guard === undefined ? request.program : (`guarded_${request.program}` as const)],
      values,
      callOptions,
      locking,
    )
    if (guard !== undefined) throwIfStale(row?.['reply'])
    return validated('postgres: the function', row?.['reply'], () => {
      const found = replyOf(row?.['reply'], groups, batch, request)
      const verdicts = replay(groups, batch, found, charging)
      if (!found.isSame(verdicts)) throw new InvalidReply()
      return verdicts
    })
  }

  const byShares = decideByShares('postgres', (groups, used, callOptions: DecideOptions & { readonly locking: Locking }) =>
    run(groups, callOptions, callOptions.locking, used),
  )
  const decide = (groups: readonly CallGroup[], callOptions: DecideOptions | undefined, locking: Locking) =>
    groups.some(({ calls }) => hasShares(calls)) ? byShares(groups, { ...callOptions, locking }) : run(groups, callOptions, locking)

  const swap = withoutShares(compareAndSwapStore(stateBackend(client, table, lanes), { clock, random }))

  const charge = decideAroundLocks(onContention, query, statements.locked)

  const block = (ids: readonly StateId[], length: number, callOptions: CallOptions | undefined): Promise<unknown> =>
    query(statements.block, [nowOf(callOptions), String(length), arrayText(digestsOf(ids))], callOptions, 'wait')

  const settle = async (changes: readonly HoldChange[], callOptions: CallOptions | undefined): Promise<ChangeResult[]> => {
    const [row] = await query(statements.settle, [nowOf(callOptions), ...settleValues(changes)], callOptions, 'wait')
    const reply = row?.['reply']
    return validated('postgres: the function', reply, () => settleResults(typeof reply === 'string' ? numbersOf(reply) : [], changes))
  }

  const make = (alike: readonly Change[], callOptions: CallOptions | undefined): Promise<unknown> => {
    const [first] = alike as [Change]
    if (first.kind === 'adjust') {
      const values = adjustmentValues(alike as readonly Adjustment[])
      return query(statements.adjust, [nowOf(callOptions), String(first.receipt ?? -1), ...values], callOptions, 'wait')
    }
    if (first.kind === 'release') {
      return query(statements.release, [nowOf(callOptions), ...releaseValues(alike as readonly Release[])], callOptions, 'wait')
    }
    const ids = alike.map(changedState)
    if (first.kind !== 'reset') return block(ids, first.kind === 'block' ? first.micros : UNBLOCK, callOptions)
    return query(statements.reset, [arrayText(digestsOf(ids))], callOptions, 'wait')
  }

  const programs: PostgresStore = {
    name: 'postgres',
    capabilities: {
      clock: 'server',
      atomicBatch: 'any',
      changes: CHANGES,
      groupOptions: ['maxWait', 'hold'],
      sync: false,
      regions: client.embedded === true ? 'on PGlite' : regionPort(regionQuery, statements),
    },
    decide: async (groups, callOptions) => {
      if (callOptions?.charge === false) return decide(groups, callOptions, 'none')
      const verdicts = await charge(groups, callOptions, (some, locking) => decide(some, callOptions, locking))
      if (callOptions?.now === undefined) sweeper.decided()
      return verdicts
    },
    change: (changes, callOptions) =>
      inRuns(changes, async (alike) => (alike.every(isOfHold) ? settle(alike, callOptions) : void (await make(alike, callOptions)))),
    sweep: (callOptions) => sweeper.all(callOptions?.deadline),
    ready: async (callOptions) => {
      await run([], callOptions, 'none')
      check(await query(SETTINGS, [], callOptions, 'none'))
    },
    migrate: (migrateOptions) =>
      migrate(client, { ...migrateOptions, table, unlogged }).catch((error: unknown) => Promise.reject(classify(error))),
    close: async () => {},
  }
  return programsOrSwap(programs, { ...swap, decide: swapAround(swap, charge) }, hasFunctions, isChanged)
}

/** Whether a function of the database makes the change. */
function isChanged(change: Change): boolean {
  if (isOfHold(change)) return change.calls.every(({ limit }) => hasFunctions(limit) && !isLog(limit))
  return change.kind !== 'adjust' || (hasFunctions(change.call.limit) && !isOther(change.call.limit))
}

/** The time to decide at, in microseconds; 0 for the server's own clock. */
function nowOf(options: CallOptions | undefined): string {
  return String(options?.now ?? 0)
}

/**
 * The parameter `waiting` of an SQL function. With '1' the function waits for rows that are locked. With '2' it also
 * inserts new rows before it decides, and so waits for those that others are inserting. A null reply means that such rows were in the way.
 */
function waitingAt(tries: number): string {
  return tries < 2 ? '1' : '2'
}
