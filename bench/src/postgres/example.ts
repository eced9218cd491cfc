import { setTimeout as later } from 'node:timers/promises'
import type pg from 'pg'
import { createLimiter, tokenBucket } from 'sluice'
import { pg as port, postgresStore } from 'sluice/postgres'
import { audit, type TraceEntry } from 'sluice/testing'
import { percentOf } from '../over-grant.ts'
import { article, compatFunction, type FunctionName, takeToken } from './article.ts'
import { POSTGRES_WAYS } from './ways.ts'
import { type PlaceInput, placeOf } from './place.ts'

/**
 * The example of the article "Rate limiting with PostgreSQL / YugabyteDB": ten tokens, one a second. A call comes every 100 ms until the
 * third refusal. After a pause of 4 s, calls come again until the first refusal.
 */
const REFILL = 1
const WINDOW = 10
const EVERY_MS = 100
export const PAUSE_MS = 4_000
const REFUSALS = [3, 1] as const
const DEADLINE_MS = 10_000

export type ExampleInput = Pick<PlaceInput, 'url'> & { readonly way: 'article' | 'compat' | 'sluice' | 'swap' }

export interface ExampleCall {
  /** Seconds since the first call. */
  readonly at: number
  /** The whole tokens that are left; -1 for a refused call, as in the article. */
  readonly left: number
}

export interface ExampleResult {
  readonly before: readonly ExampleCall[]
  /** After the pause. */
  readonly after: readonly ExampleCall[]
  /** The audit by the database's clock. */
  readonly overGrantPercent: number
}

/** Runs the article's example in real time. */
export async function runExample({ url, way }: ExampleInput): Promise<ExampleResult> {
  const place = await placeOf({ url, way, isolation: 'read committed' }, 'example')
  const pool = place.pool(1)
  try {
    const admitted: TraceEntry[] = []
    const { take, close } = await (way === 'sluice' || way === 'swap'
      ? limiterCalls(pool, way, admitted)
      : functionCalls(pool, way, admitted))
    // The first call of a connection prepares the statement.
    await take('other')
    admitted.length = 0
    const started = performance.now()
    const [first, again] = REFUSALS
    const before = await callsUntil(first, started, () => take('user1'))
    await later(PAUSE_MS)
    const after = await callsUntil(again, started, () => take('user1'))
    await close()
    const found = audit(admitted, tokenBucket({ rate: `${REFILL}/s`, burst: REFILL * WINDOW }))
    return { before, after, overGrantPercent: percentOf(found, POSTGRES_WAYS[way]) }
  } finally {
    await pool.end()
    await place.drop()
  }
}

async function callsUntil(refusals: number, started: number, take: () => Promise<number>): Promise<ExampleCall[]> {
  const calls: ExampleCall[] = []
  for (let refused = 0; refused < refusals;) {
    if (calls.length > 0) await later(EVERY_MS)
    const at = (performance.now() - started) / 1_000
    const left = await take()
    calls.push({ at, left })
    if (left < 0) refused += 1
  }
  return calls
}

interface Calls {
  take(key: string): Promise<number>
  close(): Promise<void>
}

async function functionCalls(pool: pg.Pool, way: 'article' | 'compat', admitted: TraceEntry[]): Promise<Calls> {
  const chosen = way === 'article' ? article : compatFunction
  const name: FunctionName = way === 'article' ? 'take_token' : 'rate_limiting_token_bucket_request'
  await chosen.prepare(pool, { tokens: REFILL, per: '1s', burst: REFILL * WINDOW })
  return {
    take: async (key) => {
      const { left, at } = await takeToken(pool, name, [key, REFILL, WINDOW], true)
      if (left >= 0) admitted.push({ at: Number(at), cost: 1, allowed: true })
      return left
    },
    close: async () => {},
  }
}

async function limiterCalls(pool: pg.Pool, way: 'sluice' | 'swap', admitted: TraceEntry[]): Promise<Calls> {
  const store = postgresStore({ client: port(pool), concurrency: way === 'swap' ? 'compare-and-swap' : 'lock' })
  await store.migrate()
  const limit = tokenBucket({ rate: `${REFILL}/s`, burst: REFILL * WINDOW })
  // The session in the article has no deadline, so every call must be decided here, too.
  const limiter = createLimiter({ name: 'bench', limit, store, deadlineMs: DEADLINE_MS })
  await limiter.ready()
  return {
    take: async (key) => {
      const { outcome, atMicros, limits, degraded } = await limiter.check(key)
      if (outcome === 'undecided') throw new Error(degraded?.message)
      if (outcome !== 'allowed') return -1
      admitted.push({ at: atMicros, cost: 1, allowed: true })
      return limits[0]?.remaining ?? Number.NaN
    },
    close: async () => {
      await limiter.close()
      await store.close()
    },
  }
}
