import { RateLimiterMemory, RateLimiterUnion } from 'rate-limiter-flexible'
import { windowOf } from '../../contestants/contestant.ts'
import type { MemoryContestant } from './contestant.ts'

/** rate-limiter-flexible as its page on memory configures it: points and duration. Several limits are its union. */
export const flexible: MemoryContestant = {
  name: 'rate-limiter-flexible',
  kind: 'peer',
  promise: 'window',
  awaited: true,
  open: (quotas) => {
    const limiters = quotas.map(
      (quota, index) => new RateLimiterMemory({ keyPrefix: `limit-${index}`, points: quota.burst, duration: windowOf(quota) }),
    )
    const limiter = limiters.length === 1 ? (limiters[0] as RateLimiterMemory) : new RateLimiterUnion(...limiters)
    const decide = async (key: string, cost: number): Promise<boolean> => {
      try {
        await limiter.consume(key, cost)
        return true
      } catch (refusal) {
        // A refusal is a result, or one for each limiter of the union.
        if (refusal instanceof Error) throw refusal
        return false
      }
    }
    const close = (keys: readonly string[]): void => {
      // Each key has a timer.
      for (const key of keys) for (const each of limiters) void each.delete(key)
    }
    return { decide, close }
  },
}
