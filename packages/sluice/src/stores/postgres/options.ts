import { ANY, checkOptions, CLOCK, COUNT, FLAG, type Form, FUNCTION, oneOf, within } from '../../errors/options.ts'
import { systemRandom, systemTime } from '../../time/system.ts'
import type { Random, Time } from '../../time/time.ts'
import type { CallOptions, Store } from '../store.ts'
import type { MigrateOptions } from './migrate.ts'
import { type PostgresPort, validPort } from './clients/postgres-port.ts'
import { consoleWarning } from './server-check.ts'

/** How concurrent calls for one state are isolated. */
export type Concurrency = 'lock' | 'compare-and-swap'

export interface BarePostgresOptions {
  readonly client: PostgresPort
  /** Prefix of the names of tables and functions; lower-case letters, digits and `_`. Default `sluice`. */
  readonly table?: string
  /** Whether the tables are kept out of the write-ahead log: faster, but emptied by a crash of the server. Default false. */
  readonly unlogged?: boolean
  /**
   * For a row that another transaction has locked: `wait` until shortly before the deadline, or `fail` after a millisecond, with
   * `contention`. Default `wait`. Calls that wait use at most half of the client's connections.
   */
  readonly onContention?: 'wait' | 'fail'
  /**
   * Milliseconds between two sweeps, each of a few pages of the table, for expired rows. One sweep examines about as many rows as 32
   * pages hold, some 3,000. 0: none; the program calls `sweep()`. Default 1,000.
   */
  readonly sweepEveryMs?: number
  /**
   * `lock` (default): functions in the database lock the rows. `compare-and-swap`: rows are read, decided here, and written if they have
   * not changed since. The latter is for other databases with PostgreSQL's protocol, such as YugabyteDB and CockroachDB, for which the
   * functions or their locks do not work.
   */
  readonly concurrency?: Concurrency
  /** Calls in flight at once, including abandoned ones; further calls are refused at once. Default 10,000. */
  readonly maxInFlight?: number
  /** Receives what `ready()` finds to be risky, such as a pool without statement_timeout, once. Default: the console. */
  readonly onWarning?: (message: string) => void
  /** For timers: deadlines, pauses and sweeps. Decisions use the database's clock. */
  readonly clock?: Time
  readonly random?: Random
}

export interface PostgresStore extends Store {
  /** Creates or updates tables and functions; safe if many processes start together. */
  migrate(options?: MigrateOptions): Promise<void>
  /** Deletes all expired states, in small batches, skipping locked rows; returns how many. */
  sweep(options?: CallOptions): Promise<number>
}

/** Milliseconds between two statements of the background sweep. */
const SWEEP_MS = 1_000
const MAX_SWEEP_MS = 86_400_000

export const POSTGRES_FORMS: Readonly<Record<string, Form>> = {
  client: ANY,
  table: [(value) => typeof value === 'string' && /^[a-z_][a-z0-9_]{0,31}$/.test(value), 'at most 32 of a-z, 0-9 and _'],
  unlogged: FLAG,
  onContention: oneOf('wait', 'fail'),
  sweepEveryMs: within(0, MAX_SWEEP_MS),
  concurrency: oneOf('lock', 'compare-and-swap'),
  maxInFlight: COUNT,
  onWarning: FUNCTION,
  clock: CLOCK,
  random: FUNCTION,
}

export interface Chosen extends Required<Omit<BarePostgresOptions, 'unlogged'>> {
  readonly unlogged: boolean | undefined
}

/** Fills in the defaults. @throws LimiterError INVALID_OPTIONS */
export function chosen(options: BarePostgresOptions): Chosen {
  checkOptions('postgresStore', options, POSTGRES_FORMS)
  validPort('postgresStore', options.client)
  return {
    table: 'sluice',
    unlogged: undefined,
    onContention: 'wait',
    sweepEveryMs: SWEEP_MS,
    concurrency: 'lock',
    maxInFlight: 10_000,
    onWarning: consoleWarning,
    clock: systemTime,
    random: systemRandom,
    ...Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)),
    client: options.client,
  }
}
