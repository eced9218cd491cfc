import type { Redis } from 'ioredis'
import { RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible'
import type { TraceEntry } from 'sluice/testing'
import { openWire } from '../wire.ts'
import { type Contestant, isTrue, windowOf } from './contestant.ts'
import { serverTime } from './server-time.ts'

/** rate-limiter-flexible as its page on Redis configures it: an ioredis client without an offline queue, points and duration. */
export const flexible: Contestant = contestant('rate-limiter-flexible', false)

/** As `flexible`, with the option that its page on attacks recommends: keys that used up their points are denied from memory. */
export const flexibleBlocking: Contestant = contestant('rate-limiter-flexible, blocking in memory', true)

function contestant(name: string, blocking: boolean): Contestant {
  return {
    name,
    kind: 'peer',
    promise: 'window',
    instants: 'before',
    open: async (url, quota, { note = false, wire: shared }) => {
      const wire = shared ?? (await openWire(url, 1, { enableOfflineQueue: false }))
      const client = wire.clients[0] as Redis
      const admitted: TraceEntry[] = []
      const limiter = new RateLimiterRedis({
        storeClient: client,
        points: quota.burst,
        duration: windowOf(quota),
        keyPrefix: 'rlflx',
        ...(blocking ? { inMemoryBlockOnConsumed: quota.burst } : {}),
      })
      return {
        wire,
        ...(note ? { admitted } : {}),
        invoke: async (key) => {
          const time = note ? serverTime(client) : undefined
          try {
            await limiter.consume(key)
          } catch (refusal) {
            await time
            if (refusal instanceof RateLimiterRes) return false
            throw refusal
          }
          if (time !== undefined) admitted.push({ at: await time, cost: 1, allowed: true })
          return true
        },
        passed: isTrue,
        close: async (keys) => {
          for (const key of keys) await limiter.delete(key)
          await wire.close()
        },
      }
    },
  }
}
