import { inRuns } from '../change-runs.ts'
import {
  type CallGroup,
  type CallOptions,
  type Change,
  type DecideOptions,
  type GroupVerdict,
  type StateId,
  StoreFailure,
} from '../store.ts'
import { aroundLocked } from './around-locked.ts'
import { arrayText, bucketQuestion, digestOf, digestsOf, planText, questionOf } from './encode.ts'
import { classify } from './failures.ts'
import { type FunctionNames, functionNames } from './functions.ts'
import { createLanes, type Locking } from './lanes.ts'
import { migrate } from './migrate.ts'
import type { Chosen, PostgresStore } from './options.ts'
import { createQuery } from './query.ts'
import { replay } from './replay.ts'
import { refuseReadOnly, SETTINGS, warnsOnce } from './server-check.ts'
import { digestsIn, statementsOf } from './statements.ts'
import { createSweeper } from './sweeper.ts'

type Adjustment = Extract<Change, { readonly kind: 'adjust' }>

/** What the function `block` takes for a length to end a block. */
const UNBLOCK = -1

/**
 * A store whose decisions are made by functions in the database: one statement for each call.
 * @param names names of another version's functions, for a test of two
 */
export function programStore(options: Chosen, names: FunctionNames = functionNames(options.table)): PostgresStore {
  const { client, table, unlogged, onContention, sweepEveryMs, maxInFlight, clock, random } = options
  const statements = statementsOf(table, names)
  const query = createQuery(createLanes(client, maxInFlight, clock), clock, random)
  const warn = warnsOnce(client, options.onWarning)

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
    const now = nowOf(callOptions)
    const charging = locking !== 'none'
    const alike = charging ? bucketQuestion(groups) : undefined
    const question = alike?.question ?? questionOf(groups)
    const values = (waiting: string): string[] => {
      const sizes = groups.map(({ calls }) => calls.length)
      return [now, String(charging), waiting, ...[question.ids, question.firstPlans, sizes, question.plans, question.calls].map(arrayText)]
    }
    const [row] =
      alike === undefined
        ? await query(statements.consume, (tries) => values(waitingAt(tries)), callOptions, locking)
        : await query(
            alike.one ? statements.bucket : statements.buckets,
            (tries) => [now, waitingAt(tries), ...alike.values],
            callOptions,
            locking,
          )
    const reply = row?.['reply']
    const numbers = typeof reply === 'string' ? numbersOf(reply) : undefined
    const inOrder = numbers === undefined || alike?.one !== false ? numbers : byGroups(numbers, question.slots)
    const verdicts = inOrder === undefined ? undefined : replay(groups, question, inOrder, !charging)
    if (verdicts !== undefined) return verdicts
    throw new StoreFailure('protocol', 'unknown', `postgres: the function answered ${JSON.stringify(reply)?.slice(0, 200)}`)
  }

  const charge = (groups: readonly CallGroup[], callOptions: DecideOptions | undefined): Promise<readonly GroupVerdict[]> => {
    if ((callOptions?.onContention ?? onContention) === 'wait') return run(groups, callOptions, 'wait')
    const lockedAmong = async (digests: readonly string[]) =>
      digestsIn(await query(statements.locked, [arrayText(digests)], callOptions, 'fail'))
    return aroundLocked(groups, (some) => run(some, callOptions, 'fail'), lockedAmong)
  }

  const adjust = (changes: readonly Adjustment[], callOptions: CallOptions | undefined): Promise<unknown> => {
    const parts = changes.map(({ call, amount }) => ({
      id: digestOf(call.id),
      plan: planText(call.limit),
      argument: `${amount},${call.phase}`,
    }))
    // Rows are locked in the order of their ids; changes of one state keep their order.
    parts.sort((one, other) => (one.id < other.id ? -1 : one.id > other.id ? 1 : 0))
    const lists = [parts.map(({ id }) => id), parts.map(({ plan }) => plan), parts.map(({ argument }) => argument)]
    const receipt = String(changes[0]?.receipt ?? -1)
    return query(statements.adjust, [nowOf(callOptions), receipt, ...lists.map(arrayText)], callOptions, 'wait')
  }

  const block = (ids: readonly StateId[], length: number, callOptions: CallOptions | undefined): Promise<unknown> =>
    query(statements.block, [nowOf(callOptions), String(length), arrayText(digestsOf(ids))], callOptions, 'wait')

  const make = (alike: readonly Change[], callOptions: CallOptions | undefined): Promise<unknown> => {
    const [first] = alike as [Change]
    if (first.kind === 'adjust') return adjust(alike as readonly Adjustment[], callOptions)
    const ids = (alike as readonly Exclude<Change, Adjustment>[]).map(({ id }) => id)
    if (first.kind !== 'reset') return block(ids, first.kind === 'block' ? first.micros : UNBLOCK, callOptions)
    return query(statements.reset, [arrayText(digestsOf(ids))], callOptions, 'wait')
  }

  return {
    name: 'postgres',
    capabilities: { clock: 'server', atomicBatch: 'any', changes: ['adjust', 'block', 'unblock', 'reset'], sync: false },
    decide: async (groups, callOptions) => {
      if (callOptions?.charge === false) return run(groups, callOptions, 'none')
      const verdicts = await charge(groups, callOptions)
      if (callOptions?.now === undefined) sweeper.decided()
      return verdicts
    },
    change: (changes, callOptions) => inRuns(changes, async (alike) => void (await make(alike, callOptions))),
    sweep: (callOptions) => sweeper.all(callOptions?.deadline),
    ready: async (callOptions) => {
      await run([], callOptions, 'none')
      const settings = await query(SETTINGS, [], callOptions, 'none')
      refuseReadOnly(settings)
      warn(settings)
    },
    migrate: (migrateOptions) =>
      migrate(client, { ...migrateOptions, table, unlogged }).catch((error: unknown) => Promise.reject(classify(error))),
    close: async () => {},
  }
}

/** The time to decide at, in microseconds; 0: the server's own. */
function nowOf(options: CallOptions | undefined): string {
  return String(options?.now ?? 0)
}

/** How the function waits: for rows and, from the second null reply on, also for rows that others are inserting. */
function waitingAt(tries: number): string {
  return tries < 2 ? '1' : '2'
}

/** The reply with outcomes in the order of the groups. */
function byGroups([now = Number.NaN, ...others]: readonly number[], slots: readonly number[]): number[] {
  return [now, ...slots.map((slot) => others[slot] ?? Number.NaN), ...others.slice(slots.length)]
}

/** Parses `{1,2,3}`; an invalid number becomes NaN. */
function numbersOf(array: string): number[] {
  const inner = array.slice(1, -1)
  return inner === '' ? [] : inner.split(',').map((text) => (/^-?\d+$/.test(text) ? Number(text) : Number.NaN))
}
