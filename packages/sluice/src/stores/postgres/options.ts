import type { MicroTokens } from '../../algorithms/algorithm.ts'
import { ANY, checkOptions, CLOCK, COUNT, FLAG, type Form, FUNCTION, oneOf, within } from '../../errors/options.ts'
import type { Micros } from '../../time/micros.ts'
import { systemRandom, systemTime } from '../../time/system.ts'
import type { Random, Time } from '../../time/time.ts'
import type { AdjustOptions, Call, CallOptions, StateId, Store } from '../store.ts'
import type { MigrateOptions } from './migrate.ts'
import { type PostgresPort, validPort } from './postgres-port.ts'

/** How concurrent calls of one state are kept apart. */
export type Concurrency = 'lock' | 'compare-and-swap'

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
  /**
   * `lock` (default): functions in the database lock the rows. `compare-and-swap`: rows are read, decided here, and written where they have not changed since;
   * for other databases that speak PostgreSQL's protocol, such as YugabyteDB and CockroachDB, where neither the functions nor their locks would do.
   */
  readonly concurrency?: Concurrency
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
  /** Creates or updates tables and functions; safe when many processes start together. */
  migrate(options?: MigrateOptions): Promise<void>
  /** Deletes all states that decide like none, in small batches and past what is locked: how many there were. */
  sweep(options?: CallOptions): Promise<number>
}

/** Milliseconds between two statements of the sweep in the background. */
const SWEEP_MS = 1_000
const MAX_SWEEP_MS = 86_400_000

const FORMS: Readonly<Record<string, Form>> = {
  client: ANY,
  table: [(value) => typeof value === 'string' && /^[a-z_][a-z0-9_]{0,31}$/.test(value), 'at most 32 of a-z, 0-9 and _'],
  unlogged: FLAG,
  onContention: oneOf('wait', 'fail'),
  sweepEveryMs: within(0, MAX_SWEEP_MS),
  concurrency: oneOf('lock', 'compare-and-swap'),
  maxInFlight: COUNT,
  clock: CLOCK,
  random: FUNCTION,
}

export interface Chosen extends Required<Omit<PostgresStoreOptions, 'unlogged'>> {
  readonly unlogged: boolean | undefined
}

/**
 * The options with their defaults.
 * @throws LimiterError INVALID_OPTIONS
 */
export function chosen(options: PostgresStoreOptions): Chosen {
  checkOptions('postgresStore', options, FORMS)
  validPort('postgresStore', options.client)
  return {
    table: 'sluice',
    unlogged: undefined,
    onContention: 'wait',
    sweepEveryMs: SWEEP_MS,
    concurrency: 'lock',
    maxInFlight: 10_000,
    clock: systemTime,
    random: systemRandom,
    ...Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)),
    client: options.client,
  }
}
