import { consoleWarning, type OnWarning } from '../../errors/console-warning.ts'
import { LimiterError } from '../../errors/limiter-error.ts'
import {
  ANY,
  checkOptions,
  CLOCK,
  type Complete,
  COUNT,
  FLAG,
  type Form,
  FUNCTION,
  oneOf,
  withDefaults,
  within,
} from '../../errors/options.ts'
import { systemRandom, systemTime } from '../../time/system.ts'
import type { Random, Time } from '../../time/time.ts'
import type { CallOptions, Store } from '../store.ts'
import type { MigrateOptions } from './migrate.ts'
import { type PostgresPort, validPort } from './clients/postgres-port.ts'

/** How concurrent calls for one state are isolated. */
export type Concurrency = 'lock' | 'compare-and-swap'

/** Options of `postgresStore` without those of the ring (batches, breaker and caches, see `RingOptions`). */
export interface BarePostgresOptions {
  /** What `pg(pool)`, `postgresJs(sql)` or `pglite(database)` returns. The caller owns the client and closes it. */
  readonly client: PostgresPort
  /** Prefix of the names of tables and functions; lower-case letters, digits and `_`. Default `sluice`. */
  readonly table?: string | undefined
  /**
   * Whether tables stay out of the write-ahead log: faster, but a crash of the server empties them. Default: new tables are logged, and
   * existing ones stay as they are. Only with `concurrency: 'lock'`.
   */
  readonly unlogged?: boolean | undefined
  /**
   * What a call does at a row that another transaction has locked: `wait` (default) until shortly before the deadline, or `fail` after a
   * millisecond, as `contention`.
   */
  readonly onContention?: 'wait' | 'fail' | undefined
  /**
   * Milliseconds between sweeps, each of which examines about 3,000 rows and deletes the expired ones. Default 1,000. 0: the program must
   * call `sweep()`.
   */
  readonly sweepEveryMs?: number | undefined
  /**
   * `lock` (default): functions in the database lock rows and decide. `compare-and-swap`: this process decides, and writes rows that have
   * not changed. It suits other databases with PostgreSQL's protocol, such as YugabyteDB and CockroachDB.
   */
  readonly concurrency?: Concurrency | undefined
  /** The most calls in flight, including abandoned ones. Further calls are refused at once. Default 10,000. */
  readonly maxInFlight?: number | undefined
  /** Called once if `ready()` finds a risky setting, such as no statement_timeout. Default: warns on the console. */
  readonly onWarning?: OnWarning | undefined
  /** The clock for deadlines, pauses and sweeps. Decisions use the database's clock. */
  readonly clock?: Time | undefined
  /** Random numbers for pauses between attempts; default Math.random. */
  readonly random?: Random | undefined
}

/** A store in PostgreSQL, without the ring. */
export interface PostgresStore extends Store {
  /**
   * Creates or updates tables and functions. Many processes may call it at the same time. Rejects with a StoreFailure if the database
   * refuses.
   * @throws LimiterError INVALID_OPTIONS for an unknown option
   */
  migrate(options?: MigrateOptions): Promise<void>
  /** Deletes all expired states, in small batches. Skips locked rows. Returns how many rows it deleted. */
  sweep(options?: CallOptions): Promise<number>
}

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

export interface Chosen extends Complete<Omit<BarePostgresOptions, 'unlogged'>> {
  readonly unlogged: boolean | undefined
}

/** @throws LimiterError INVALID_OPTIONS */
export function chosen(options: BarePostgresOptions): Chosen {
  checkOptions('postgresStore', options, POSTGRES_FORMS)
  validPort('postgresStore', options.client)
  if (options.unlogged === true && options.concurrency === 'compare-and-swap') {
    throw new LimiterError('INVALID_OPTIONS', "postgresStore: unlogged is true, which concurrency 'compare-and-swap' does not support")
  }
  const defaults: Chosen = {
    client: options.client,
    table: 'sluice',
    unlogged: undefined,
    onContention: 'wait',
    sweepEveryMs: SWEEP_MS,
    concurrency: 'lock',
    maxInFlight: 10_000,
    onWarning: consoleWarning,
    clock: systemTime,
    random: systemRandom,
  }
  return withDefaults(defaults, options)
}
