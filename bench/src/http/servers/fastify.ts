import type { AddressInfo } from 'node:net'
import fastifyRateLimit from '@fastify/rate-limit'
import { fastify, type FastifyInstance } from 'fastify'
import { Redis } from 'ioredis'
import { rateLimitPlugin } from 'sluice/fastify'
import { windowOf } from '../../contestants/contestant.ts'
import { BODY, KEPT_MS, REFUSAL, type ServerOrder } from '../order.ts'
import { headersOf, sluiceLimiter } from './sluice.ts'

/** A Fastify app with a plugin for all of its routes. Resolves with its port. */
export async function serveFastify(order: ServerOrder): Promise<number> {
  const app = fastify({ keepAliveTimeout: KEPT_MS })
  await guard(app, order)
  app.get('/api/items/:id', async () => BODY)
  await app.listen({ port: 0, host: '127.0.0.1' })
  return (app.server.address() as AddressInfo).port
}

async function guard(app: FastifyInstance, order: ServerOrder): Promise<void> {
  const { guard: name, quota, fields = [], status = 200, redis } = order
  const headers = headersOf(name)
  if (headers !== undefined) {
    await app.register(rateLimitPlugin, { limiter: await sluiceLimiter(order), ...headers })
    return
  }
  switch (name) {
    case 'bare':
      return
    case 'constant':
      app.addHook('onRequest', (_request, reply, done) => {
        for (const [field, value] of fields) void reply.header(field, value)
        if (status === 200) done()
        else void reply.code(status).send(REFUSAL)
      })
      return
    case '@fastify/rate-limit': {
      // The client's settings are those of the plugin's example.
      const client = redis === undefined ? undefined : new Redis(redis, { connectTimeout: 500, maxRetriesPerRequest: 1 })
      await app.register(fastifyRateLimit, {
        max: quota.burst,
        timeWindow: windowOf(quota) * 1_000,
        enableDraftSpec: true,
        ...(client === undefined ? {} : { redis: client }),
      })
      return
    }
    default:
      throw new Error(`${name} does not run on Fastify`)
  }
}
