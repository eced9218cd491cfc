import type { AddressInfo } from 'node:net'
import express, { type RequestHandler } from 'express'
import { rateLimit } from 'sluice/express'
import { BODY, KEPT_MS, REFUSAL, type ServerOrder } from '../order.ts'
import { headersOf, sluiceLimiter } from './sluice.ts'

/** An Express app with a middleware before all of its routes. Resolves with its port. */
export async function serveExpress(order: ServerOrder): Promise<number> {
  const app = express()
  const guard = await middlewareOf(order)
  if (guard !== undefined) app.use(guard)
  app.get('/api/items/:id', (_request, response) => void response.send(BODY))
  const server = app.listen(0, '127.0.0.1')
  server.keepAliveTimeout = KEPT_MS
  await new Promise<void>((resolve) => server.once('listening', resolve))
  return (server.address() as AddressInfo).port
}

async function middlewareOf(order: ServerOrder): Promise<RequestHandler | undefined> {
  const { guard, fields = [], status = 200 } = order
  const headers = headersOf(guard)
  if (headers !== undefined) return rateLimit({ limiter: await sluiceLimiter(order), ...headers })
  switch (guard) {
    case 'bare':
      return undefined
    case 'constant':
      return (_request, response, next) => {
        for (const [name, value] of fields) response.setHeader(name, value)
        if (status === 200) next()
        else response.status(status).send(REFUSAL)
      }
    case 'express-rate-limit':
      return (await import('./express-rate-limit.ts')).expressRateLimit(order)
    case 'rate-limiter-flexible':
      return (await import('./flexible.ts')).flexibleMiddleware(order)
    default:
      throw new Error(`${guard} does not run on Express`)
  }
}
