import { LimiterError } from '../../errors/limiter-error.ts'
import { refuseUnknown } from '../../errors/options.ts'
import type { MicroTokens } from '../../algorithms/algorithm.ts'
import type { Micros } from '../../time/micros.ts'
import { systemRandom, systemTime } from '../../time/system.ts'
import type { Random, Time } from '../../time/time.ts'
import {
  type AdjustOptions,
  type Call,
  type CallGroup,
  type CallOptions,
  type GroupVerdict,
  type StateId,
  type Store,
  StoreFailure,
} from '../store.ts'
import { createAsking } from './asking.ts'
import { arrayText, digestOf, planText, questionOf } from './encode.ts'
import { classify } from './failures.ts'
import { migrate } from './migrate.ts'
import type { PostgresPort } from './postgres-port.ts'
import { replay } from './replay.ts'
import { statementsOf } from './statements.ts'
import { createSweeper } from './sweeper.ts'

export interface PostgresStoreOptions {
  readonly client: PostgresPort
  /** What the names of tables and functions begin with; small letters, digits and `_`. Default `sluice`. */
  readonly table?: string
  /** Whether the tables are kept out of the write-ahead log: faster, and empty after a crash of the server. Default false. */
  readonly unlogged?: boolean
  /** A row that another call holds is waited for, or the call is `undecided` at once (contention). Default `wait`. */
  readonly onContention?: 'wait' | 'fail'
  /**
   * Milliseconds between two looks, each at a few pages of the table, for rows that decide like none; about as many rows are looked at in
   * one as 32 pages hold, some 3,000. 0: none, `sweep()` is called by somebody. Default 1,000.
   */
  readonly sweepEveryMs?: number
  /** Calls under way at once, abandoned ones included; further ones are refused at once. Default 10,000. */
  readonly maxInFlight?: number
  /** Source of deadlines only: decisions are made on the database's clock. */
  readonly clock?: Time
  /** Spreads the tries after a conflict. */
  readonly random?: Random
}

export interface PostgresStore extends Store {
  adjust(calls: readonly Call[], amounts: readonly MicroTokens[], options?: AdjustOptions): Promise<void>
  block(ids: readonly StateId[], duration: Micros | null, options?: CallOptions): Promise<void>
  /**
   * Creates or updates tables and functions; safe when many processes start together. With `article` also the table and the function
   * of "Rate limiting with PostgreSQL / YugabyteDB" (docs/stores/postgres.md), for those who call it from SQL.
   */
  migrate(options?: { readonly article?: boolean }): Promise<void>
  /** Deletes all states that decide like none, in small batches and past what is locked: how many there were. */
  sweep(options?: CallOptions): Promise<number>
}

const OPTIONS = ['client', 'table', 'unlogged', 'onContention', 'sweepEveryMs', 'maxInFlight', 'clock', 'random']
/** Milliseconds between two statements of the sweep in the background. */
const SWEEP_MS = 1_000
const LONGEST_SWEEP_MS = 86_400_000

/**
 * States in PostgreSQL (13 or later) or PGlite: one statement locks the rows in one fixed order, reads the database's clock
 * after the last lock, decides all groups and writes. Exact under READ COMMITTED and above, with any number of processes.
 * @throws LimiterError INVALID_OPTIONS
 */
export function postgresStore(options: PostgresStoreOptions): PostgresStore {
  refuseUnknown('postgresStore', options, OPTIONS)
  const {
    client,
    table = 'sluice',
    unlogged,
    onContention = 'wait',
    sweepEveryMs = SWEEP_MS,
    maxInFlight = 10_000,
    clock = systemTime,
    random = systemRandom,
  } = options
  if (!/^[a-z_][a-z0-9_]{0,31}$/.test(table)) {
    throw new LimiterError('INVALID_OPTIONS', `postgresStore: table is ${JSON.stringify(table)}, expected at most 32 of a-z, 0-9 and _`)
  }
  if (onContention !== 'wait' && onContention !== 'fail') {
    throw new LimiterError('INVALID_OPTIONS', `postgresStore: onContention is ${JSON.stringify(onContention)}, expected wait or fail`)
  }
  if (!(sweepEveryMs >= 0 && sweepEveryMs <= LONGEST_SWEEP_MS)) {
    throw new LimiterError('INVALID_OPTIONS', `postgresStore: sweepEveryMs is ${String(sweepEveryMs)}, expected 0 to ${LONGEST_SWEEP_MS}`)
  }
  const statements = statementsOf(table)
  const ask = createAsking({ client, maxInFlight, clock, random })

  const sweeper = createSweeper(sweepEveryMs, clock, random, async (first, pages, deadline) => {
    const [row] = await ask(statements.sweep, [String(first), String(pages)], deadline === undefined ? undefined : { deadline })
    const [gone = 0, more = 0] = numbersOf(String(row?.['reply']))
    return { gone, more: more === 1 }
  })

  const run = async (
    groups: readonly CallGroup[],
    callOptions: CallOptions | undefined,
    charging: boolean,
  ): Promise<readonly GroupVerdict[]> => {
    const question = questionOf(groups)
    const sizes = groups.map(({ calls }) => calls.length)
    const values = (waiting: string): string[] => [
      String(callOptions?.now ?? 0),
      String(charging),
      waiting,
      ...[question.ids, question.firstPlans, sizes, question.plans, question.calls].map(arrayText),
    ]
    const [row] = await ask(statements.consume, (tries) => values(onContention === 'fail' ? '0' : tries < 2 ? '1' : '2'), callOptions)
    const reply = row?.['reply']
    const verdicts = typeof reply === 'string' ? replay(groups, question, numbersOf(reply)) : undefined
    if (verdicts !== undefined) return verdicts
    throw new StoreFailure('protocol', 'unknown', `postgres: the function answered ${JSON.stringify(reply)?.slice(0, 200)}`)
  }

  return {
    name: 'postgres',
    capabilities: { clock: 'server', atomicBatch: 'any', sync: false },
    consume: async (groups, callOptions) => {
      const verdicts = await run(groups, callOptions, true)
      if (callOptions?.now === undefined) sweeper.asked()
      return verdicts
    },
    peek: (groups, callOptions) => run(groups, callOptions, false),
    adjust: async (calls, amounts, callOptions) => {
      if (calls.length === 0) return
      const parts = calls.map((call, index) => ({
        id: digestOf(call.id),
        plan: planText(call.limit),
        given: `${amounts[index]},${call.phase}`,
      }))
      // Rows are locked in the order of their ids; calls of one state keep theirs.
      parts.sort((one, other) => (one.id < other.id ? -1 : one.id > other.id ? 1 : 0))
      const lists = [parts.map(({ id }) => id), parts.map(({ plan }) => plan), parts.map(({ given }) => given)]
      const times = [String(callOptions?.now ?? 0), String(callOptions?.receipt ?? -1)]
      await ask(statements.adjust, [...times, ...lists.map(arrayText)], callOptions)
    },
    block: async (ids, duration, callOptions) => {
      if (ids.length === 0) return
      await ask(statements.block, [String(callOptions?.now ?? 0), String(duration ?? -1), digestsOf(ids)], callOptions)
    },
    reset: async (ids, callOptions) => {
      if (ids.length > 0) await ask(statements.reset, [digestsOf(ids)], callOptions)
    },
    sweep: (callOptions) => sweeper.all(callOptions?.deadline),
    ready: async (callOptions) => {
      await run([], callOptions, false)
    },
    migrate: ({ article } = {}) => migrate(client, { table, unlogged, article }).catch((error: unknown) => Promise.reject(classify(error))),
    close: async () => {},
  }
}

/** Each once, in the order in which rows are locked. */
function digestsOf(ids: readonly StateId[]): string {
  return arrayText([...new Set(ids.map(digestOf))].sort())
}

/** `{1,2,3}` as numbers; what is none becomes NaN. */
function numbersOf(array: string): number[] {
  const inner = array.slice(1, -1)
  return inner === '' ? [] : inner.split(',').map((text) => (/^-?\d+$/.test(text) ? Number(text) : Number.NaN))
}
