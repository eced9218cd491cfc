import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible'
import { secondsOf, type Way } from './way.ts'

/** rate-limiter-flexible as its page on PostgreSQL sets it up, ready once its table is there. It counts in fixed windows. */
export const flexible: Way = {
  name: 'rate-limiter-flexible',
  open: async (pool, quota) => {
    const limiter = await new Promise<RateLimiterPostgres>((resolve, reject) => {
      const made: RateLimiterPostgres = new RateLimiterPostgres(
        {
          storeClient: pool,
          tableName: 'flexible',
          points: quota.burst,
          duration: secondsOf(quota).window,
          clearExpiredByTimeout: false,
        },
        (error?: Error) => (error === undefined ? setImmediate(() => resolve(made)) : reject(error)),
      )
    })
    return {
      ask: async (key) => {
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
