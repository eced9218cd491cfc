import type { AddressInfo } from 'node:net'
import { serve } from '@hono/node-server'
import { getConnInfo } from '@hono/node-server/conninfo'
import { type Context, Hono, type MiddlewareHandler } from 'hono'
import { rateLimiter } from 'hono-rate-limiter'
import { rateLimit } from 'sluice/hono'
import { windowOf } from '../../contestants/contestant.ts'
import { BODY, KEPT_MS, REFUSAL, type ServerOrder } from '../order.ts'
import { headersOf, sluiceLimiter } from './sluice.ts'

/** A Hono app on node:http with a middleware before all of its routes. Resolves with its port. */
export async function serveHono(order: ServerOrder): Promise<number> {
  const app = new Hono()
  const guard = await middlewareOf(order)
  if (guard !== undefined) app.use(guard)
  app.get('/api/items/:id', (c) => c.text(BODY))
  const serverOptions = { keepAliveTimeout: KEPT_MS }
  const options = { fetch: app.fetch, hostname: '127.0.0.1', port: 0, serverOptions }
  return new Promise((resolve) => serve(options, ({ port }: AddressInfo) => resolve(port)))
}

const address = (c: Context): string | undefined => getConnInfo(c).remote.address

async function middlewareOf(order: ServerOrder): Promise<MiddlewareHandler | undefined> {
  const { guard, quota, fields = [], status = 200 } = order
  const headers = headersOf(guard)
  if (headers !== undefined) return rateLimit({ limiter: await sluiceLimiter(order), address, ...headers })
  switch (guard) {
    case 'bare':
      return undefined
    case 'constant':
      return async (c, next) => {
        for (const [name, value] of fields) c.header(name, value)
        if (status === 200) return next()
        return c.text(REFUSAL, 429)
      }
    case 'hono-rate-limiter':
      return rateLimiter({
        windowMs: windowOf(quota) * 1_000,
        limit: quota.burst,
        standardHeaders: 'draft-6',
        keyGenerator: (c) => address(c) ?? '',
      })
    default:
      throw new Error(`${guard} does not run on Hono`)
  }
}
