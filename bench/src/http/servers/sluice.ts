import { Redis } from 'ioredis'
import { createLimiter, type Limiter, tokenBucket } from 'sluice'
import type { HeaderOptions } from 'sluice/http'
import { ioredis, redisStore } from 'sluice/redis'
import { SOUND } from '../../contestants/sluice.ts'
import type { Guard, ServerOrder } from '../order.ts'

/** A token bucket, in the memory of the process, or in Redis with the defaults of the store. */
export async function sluiceLimiter({ quota: { tokens, per, burst }, redis }: ServerOrder): Promise<Limiter> {
  const limit = tokenBucket({ rate: { tokens, per }, burst })
  if (redis === undefined) return createLimiter({ name: 'api', limit })
  const limiter = createLimiter({ name: 'api', limit, store: redisStore({ client: ioredis(new Redis(redis, SOUND)) }) })
  await limiter.ready()
  return limiter
}

/** The options of an adapter for a contestant of that name; undefined for another contestant. */
export function headersOf(guard: Guard): { readonly headers?: HeaderOptions } | undefined {
  switch (guard) {
    case 'sluice':
      return { headers: { dialect: 'draft-6', limit: false, remaining: false } }
    case 'sluice-default':
      return {}
    case 'sluice-off':
      return { headers: { dialect: 'off', limit: false, remaining: false } }
    default:
      return undefined
  }
}
