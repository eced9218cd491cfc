import type pg from 'pg'
import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible'
import type { TraceEntry } from 'sluice/testing'
import type { Quota } from '../contestants/contestant.ts'
import { fillRows, NOW_MICROS, secondsOf, SPENT, type Way } from './way.ts'

/** rate-limiter-flexible as its page on PostgreSQL configures it. It prepares its statement by itself, and counts in fixed windows. */
export const flexible: Way = {
  name: 'rate-limiter-flexible',
  kind: 'peer',
  promise: 'window',
  instants: 'before',
  prepare: (pool, quota) =>
    new Promise((resolve, reject) => create(pool, quota, (error) => (error === undefined ? resolve() : reject(error)))),
  fill: (pool, quota, keys) => {
    const expire = Date.now() + secondsOf(quota).window * 1_000
    // The library's own names of keys have its prefix.
    const text = "insert into flexible select 'rlflx:' || id, $2, $3 from unnest($1::text[]) as id"
    return fillRows(pool, keys, text, [Math.floor(quota.burst * SPENT), expire])
  },
  open: async (pool, quota, { note = false } = {}) => {
    const limiter = new RateLimiterPostgres({ ...optionsOf(pool, quota), tableCreated: true })
    const admitted: TraceEntry[] = []
    // Makes the pool open a connection before the first request.
    await pool.query('select 1')
    return {
      ...(note ? { admitted } : {}),
      invoke: async (key) => {
        // The library has its own statement, so the time comes from one before it.
        const at = note ? await databaseTime(pool) : 0
        try {
          await limiter.consume(key)
        } catch (refusal) {
          if (refusal instanceof RateLimiterRes) return false
          throw refusal
        }
        if (note) admitted.push({ at, cost: 1, allowed: true })
        return true
      },
      close: async () => {},
    }
  },
}

async function databaseTime(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ at: string }>({ name: 'bench_time', text: `select ${NOW_MICROS} as at` })
  return Number(rows[0]?.at)
}

/** Creates the table; calls back when it exists. */
function create(pool: pg.Pool, quota: Quota, made: (error?: Error) => void): RateLimiterPostgres {
  return new RateLimiterPostgres(optionsOf(pool, quota), made)
}

function optionsOf(pool: pg.Pool, quota: Quota) {
  return {
    storeClient: pool,
    tableName: 'flexible',
    points: quota.burst,
    duration: secondsOf(quota).window,
    clearExpiredByTimeout: false,
  }
}
