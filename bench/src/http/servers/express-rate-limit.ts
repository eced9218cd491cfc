import type { RequestHandler } from 'express'
import { rateLimit } from 'express-rate-limit'
import { Redis } from 'ioredis'
import { RedisStore, type RedisReply } from 'rate-limit-redis'
import { windowOf } from '../../contestants/contestant.ts'
import type { ServerOrder } from '../order.ts'

/** express-rate-limit with the fields of draft 6 and none of the older ones. Its store: memory, or rate-limit-redis by ioredis. */
export function expressRateLimit({ quota, redis }: ServerOrder): RequestHandler {
  return rateLimit({
    windowMs: windowOf(quota) * 1_000,
    limit: quota.burst,
    standardHeaders: 'draft-6',
    legacyHeaders: false,
    ...(redis === undefined ? {} : { store: storeOf(new Redis(redis)) }),
  })
}

function storeOf(client: Redis): RedisStore {
  return new RedisStore({ sendCommand: (command: string, ...args: string[]) => client.call(command, ...args) as Promise<RedisReply> })
}
