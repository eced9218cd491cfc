import rateLimit from '@fastify/rate-limit'
import { fastify, type FastifyRequest } from 'fastify'
import type { Redis } from 'ioredis'
import type { TraceEntry } from 'sluice/testing'
import { openWire } from '../wire.ts'
import { type Contestant, isTrue, windowOf } from './contestant.ts'
import { serverTime } from './server-time.ts'

const NAME_SPACE = 'fastify-rate-limit-'

/**
 * The plugin @fastify/rate-limit in an application of its own, with the client settings of the plugin's example. It is called through its
 * `createRateLimit`, which decides without Fastify's routing and without header fields.
 */
export const fastifyPlugin: Contestant = {
  name: '@fastify/rate-limit',
  kind: 'peer',
  promise: 'window',
  instants: 'before',
  open: async (url, quota, { note = false, wire: shared }) => {
    const wire = shared ?? (await openWire(url, 1, { connectTimeout: 500, maxRetriesPerRequest: 1 }))
    const client = wire.clients[0] as Redis
    const admitted: TraceEntry[] = []
    const app = fastify()
    await app.register(rateLimit, {
      global: false,
      redis: client,
      max: quota.burst,
      timeWindow: windowOf(quota) * 1_000,
      keyGenerator: (request) => request.id,
    })
    await app.ready()
    const check = app.createRateLimit()
    return {
      wire,
      ...(note ? { admitted } : {}),
      invoke: async (key) => {
        const time = note ? serverTime(client) : undefined
        // The plugin reads only these fields of a request: the source of the key, and the settings of the route, which are empty here.
        const answer = await check({ id: key, routeOptions: {} } as FastifyRequest)
        const at = await time
        const allowed = answer.isAllowed || !answer.isExceeded
        if (at !== undefined && allowed) admitted.push({ at, cost: 1, allowed })
        return allowed
      },
      passed: isTrue,
      close: async (keys) => {
        if (keys.length > 0) await client.del(...keys.map((key) => NAME_SPACE + key))
        await app.close()
        await wire.close()
      },
    }
  },
}
