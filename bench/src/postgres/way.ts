import type pg from 'pg'
import type { Quota } from '../contestants/contestant.ts'

/** A way of keeping a limit in PostgreSQL, over a pool of its own in a schema of its own. */
export interface Way {
  readonly name: string
  /** What it promises: a token bucket, or its limit in every window. Default `bucket`. */
  readonly promise?: 'bucket' | 'window'
  /** Makes tables and functions, once for each schema. */
  prepare(pool: pg.Pool, quota: Quota): Promise<void>
  /** Opens what `prepare` made: ready for its first request. */
  open(pool: pg.Pool, quota: Quota): Promise<Opened>
}

export interface Opened {
  /** Whether the request may pass; rejects where that could not be decided. */
  invoke(key: string): Promise<boolean>
  close(): Promise<void>
}

const SECONDS = { '1s': 1, '1m': 60, '1d': 86_400 } as const

/** The quota as the article's function and its peers take it: tokens a second, and seconds until all are there. */
export function secondsOf({ tokens, per, burst }: Quota): { readonly refill: number; readonly window: number } {
  const refill = tokens / SECONDS[per]
  return { refill, window: burst / refill }
}
