import { consoleWarning, type OnWarning } from '../../errors/console-warning.ts'
import { ANY, checkOptions, CLOCK, COUNT, FLAG, type Form, FUNCTION, oneOf, within } from '../../errors/options.ts'
import { systemRandom, systemTime } from '../../time/system.ts'
import type { Random, Time } from '../../time/time.ts'
import type { CallOptions, Store } from '../store.ts'
import type { MigrateOptions } from './migrate.ts'
import { type PostgresPort, validPort } from './clients/postgres-port.ts'

/** How concurrent calls for one state are isolated. */
export type Concurrency = 'lock' | 'compare-and-swap'

/** Options of the store in PostgreSQL itself, without those of its ring. */
export interface BarePostgresOptions {
  /** What `pg(pool)`, `postgresJs(sql)` or `pglite(database)` returns. The caller owns the client and closes it. */
  readonly client: PostgresPort
  /** Prefix of the names of tables and functions; lower-case letters, digits and `_`. Default `sluice`. */
  readonly table?: string
  /** Whether tables stay out of the write-ahead log: faster, but a crash empties them. Default: new tables are logged, others unchanged. */
  readonly unlogged?: boolean
  /**
   * What a call does if another transaction has locked a row: `wait` until shortly before the deadline, or `fail` after a millisecond, with
   * `contention`. Default `wait`. Calls that wait use at most half of the client's connections.
   */
  readonly onContention?: 'wait' | 'fail'
  /**
   * Milliseconds between two sweeps, which delete expired rows. One sweep examines about as many rows as 32 pages of the table hold, some
   * 3,000. 0: no sweeps, so the program must call `sweep()`. Default 1,000.
   */
  readonly sweepEveryMs?: number
  /**
   * `lock` (default): functions in the database lock the rows. `compare-and-swap`: rows are read, decided here, and written if they have
   * not changed since. Use `compare-and-swap` for other databases with PostgreSQL's protocol, such as YugabyteDB and CockroachDB, on which
   * the functions or their locks do not work.
   */
  readonly concurrency?: Concurrency
  /** Calls in flight at once, including abandoned ones; further calls are refused at once. Default 10,000. */
  readonly maxInFlight?: number
  /** Called once if `ready()` finds a risky setting, such as a pool without statement_timeout. Default: warns on the console. */
  readonly onWarning?: OnWarning
  /** For timers: deadlines, pauses and sweeps. Decisions use the database's clock. */
  readonly clock?: Time
  /** Spreads pauses between retries; default Math.random. */
  readonly random?: Random
}

/** The store of `postgresStore`: with the ring, and with the database's own operations. To make or update its tables call `migrate`. */
export interface PostgresStore extends Store {
  /**
   * Creates or updates tables and functions; safe if many processes start together. Rejects with the StoreFailure if the database refuses.
   * @throws LimiterError INVALID_OPTIONS for an unknown option
   */
  migrate(options?: MigrateOptions): Promise<void>
  /** Deletes all expired states, in small batches, skipping locked rows; returns how many. */
  sweep(options?: CallOptions): Promise<number>
}

/** Milliseconds between two statements of the background sweep. */
const SWEEP_MS = 1_000
const MAX_SWEEP_MS = 86_400_000
const TABLE = /^[a-z_][a-z0-9_]{0,31}$/

export const POSTGRES_FORMS: Readonly<Record<string, Form>> = {
  client: ANY,
  table: [(value) => typeof value === 'string' && TABLE.test(value), 'at most 32 of a-z, 0-9 and _'],
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
