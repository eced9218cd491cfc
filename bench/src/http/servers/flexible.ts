import { once } from 'node:events'
import type { RequestHandler, Response } from 'express'
import { Redis } from 'ioredis'
import { type RateLimiterAbstract, RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible'
import { windowOf } from '../../contestants/contestant.ts'
import { REFUSAL, type ServerOrder } from '../order.ts'

/**
 * rate-limiter-flexible in a middleware of one's own, as its page on Express has it: `consume(req.ip)`, then `next` or 429. It sends no
 * header fields itself; its page lists how they are computed. Here the fields have the names of the IETF draft.
 */
export async function flexibleMiddleware(order: ServerOrder): Promise<RequestHandler> {
  const limiter = await limiterOf(order)
  return (request, response, next) => {
    limiter.consume(request.ip ?? '').then(
      (result) => {
        setFields(response, limiter.points, result)
        next()
      },
      (refusal: unknown) => {
        if (!(refusal instanceof RateLimiterRes)) return next(refusal)
        setFields(response, limiter.points, refusal)
        response.setHeader('Retry-After', Math.ceil(refusal.msBeforeNext / 1_000))
        response.status(429).send(REFUSAL)
      },
    )
  }
}

async function limiterOf({ quota, redis }: ServerOrder): Promise<RateLimiterAbstract> {
  const limit = { points: quota.burst, duration: windowOf(quota) }
  if (redis === undefined) return new RateLimiterMemory(limit)
  const storeClient = new Redis(redis, { enableOfflineQueue: false })
  // Without an offline queue, a request before the connection would fail.
  await once(storeClient, 'ready')
  return new RateLimiterRedis({ ...limit, storeClient })
}

function setFields(response: Response, limit: number, { remainingPoints, msBeforeNext }: RateLimiterRes): void {
  response.setHeader('RateLimit-Limit', limit)
  response.setHeader('RateLimit-Remaining', remainingPoints)
  response.setHeader('RateLimit-Reset', Math.ceil(msBeforeNext / 1_000))
}
