import { RateLimiter, TokenBucket } from 'limiter'
import { type Quota, windowOf } from '../../contestants/contestant.ts'
import { inTurn, type MemoryContestant } from './contestant.ts'

interface Limiting {
  tryRemoveTokens(count: number): boolean
}

/**
 * The library `limiter` limits one thing. So its user keeps a Map with one limiter for each key, from which nothing is removed. Requests
 * that are too many are refused with `tryRemoveTokens`.
 */
function perKey(name: string, create: (quota: Quota) => Limiting): MemoryContestant {
  return {
    name,
    kind: 'peer',
    open: (quotas) => {
      const decisions = quotas.map((quota) => {
        const limiters = new Map<string, Limiting>()
        return (key: string, cost: number): boolean => {
          let limiter = limiters.get(key)
          if (limiter === undefined) {
            limiter = create(quota)
            limiters.set(key, limiter)
          }
          return limiter.tryRemoveTokens(cost)
        }
      })
      return { decide: inTurn(decisions) }
    },
  }
}

export const rateLimiter: MemoryContestant = perKey(
  'limiter, RateLimiter',
  (quota) => new RateLimiter({ tokensPerInterval: quota.burst, interval: windowOf(quota) * 1_000 }),
)

/** The bucket of this library begins empty, so it is filled first. */
export const limiterBucket: MemoryContestant = perKey('limiter, TokenBucket', (quota) => {
  const bucket = new TokenBucket({ bucketSize: quota.burst, tokensPerInterval: quota.burst, interval: windowOf(quota) * 1_000 })
  bucket.content = quota.burst
  return bucket
})
