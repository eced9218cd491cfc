import type pg from 'pg'
import type { TraceEntry } from 'sluice/testing'
import type { ContestantKind, Quota } from '../contestants/contestant.ts'

/** A way of keeping a limit in PostgreSQL. Each way has its own pool and its own schema. */
export interface Way {
  readonly name: string
  readonly kind: ContestantKind
  /** The limit that it promises: a token bucket, or `burst` tokens in every window. Default `bucket`. */
  readonly promise?: 'bucket' | 'window'
  /**
   * How `admitted` gets the database's time. `own`: it is the time by which the limiter decided. `after`: the deciding statement reads it
   * when it has decided. `before`: a statement directly before the request reads it.
   */
  readonly instants: 'own' | 'after' | 'before'
  /** Makes tables and functions, once for each schema. */
  prepare(pool: pg.Pool, quota: Quota): Promise<void>
  /** Makes rows of many keys, each as after requests that spent `SPENT` of the burst. */
  fill?(pool: pg.Pool, quota: Quota, keys: readonly string[]): Promise<void>
  /**
   * The tables that `fill` fills, if every limiter with these tables fills them with the same rows. The next limiter then copies the rows,
   * in their order.
   */
  readonly alike?: readonly string[]
  /** Opens the limiter after `prepare`, so that it is ready for its first request. */
  open(pool: pg.Pool, quota: Quota, options?: OpenWayOptions): Promise<Opened>
}

export interface OpenWayOptions {
  /** Whether to fill `admitted`; not set when time is measured. */
  readonly note?: boolean
}

export interface Opened {
  /** Whether the request may pass; rejects if that could not be decided. */
  invoke(key: string): Promise<boolean>
  /** The admitted requests, by the database's clock. Present if `note` was set. */
  readonly admitted?: readonly TraceEntry[]
  close(): Promise<void>
}

/** The share of the burst that filled rows have spent. A nearly full bucket would soon be full, and a full bucket needs no row. */
export const SPENT = 0.44
const FILLED_AT_ONCE = 10_000

/** Makes rows with a statement whose first parameter is a list of keys. */
export async function fillRows(pool: pg.Pool, keys: readonly string[], text: string, values: readonly unknown[]): Promise<void> {
  for (let from = 0; from < keys.length; from += FILLED_AT_ONCE)
    await pool.query(text, [keys.slice(from, from + FILLED_AT_ONCE), ...values])
}

/** Copies the rows of tables of another schema in the order in which they were made, so that indexes grow as they did there. */
export async function copyRows(pool: pg.Pool, schema: string, tables: readonly string[]): Promise<void> {
  for (const table of tables) await pool.query(`insert into ${table} select * from ${schema}.${table}`)
}

/** The database's clock in whole microseconds since 1970, as an expression of SQL. pg returns it as a text. */
export const NOW_MICROS = '(extract(epoch from clock_timestamp()) * 1000000)::bigint'

const SECONDS = { '1s': 1, '1m': 60, '1d': 86_400 } as const

/** The quota in the units of the article's function: tokens a second, and the seconds in which the whole burst is refilled. */
export function secondsOf({ tokens, per, burst }: Quota): { readonly refill: number; readonly window: number } {
  const refill = tokens / SECONDS[per]
  return { refill, window: burst / refill }
}
