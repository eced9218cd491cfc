import type pg from 'pg'
import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible'
import type { Quota } from '../contestants/contestant.ts'
import { secondsOf, type Way } from './way.ts'

/** rate-limiter-flexible as its page on PostgreSQL sets it up. It prepares its statement by itself, and counts in fixed windows. */
export const flexible: Way = {
  name: 'rate-limiter-flexible',
  promise: 'window',
  prepare: (pool, quota) =>
    new Promise((resolve, reject) => create(pool, quota, (error) => (error === undefined ? resolve() : reject(error)))),
  open: async (pool, quota) => {
    const limiter = new RateLimiterPostgres({ ...optionsOf(pool, quota), tableCreated: true })
    // The pool has a connection before the first request.
    await pool.query('select 1')
    return {
      invoke: async (key) => {
        try {
          await limiter.consume(key)
          return true
        } catch (refusal) {
          if (refusal instanceof RateLimiterRes) return false
          throw refusal
        }
      },
      close: async () => {},
    }
  },
}

/** Calls back once its table is there. */
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
