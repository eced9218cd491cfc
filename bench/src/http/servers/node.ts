import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { rateLimit } from 'sluice/node'
import { BODY, KEPT_MS, REFUSAL, type ServerOrder } from '../order.ts'
import { headersOf, sluiceLimiter } from './sluice.ts'

/** A server of node:http without a framework. Resolves with its port. */
export async function serveNode(order: ServerOrder): Promise<number> {
  const server = createServer({ keepAliveTimeout: KEPT_MS }, await listenerOf(order))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

async function listenerOf(order: ServerOrder): Promise<RequestListener> {
  const { guard, fields = [], status = 200 } = order
  const headers = headersOf(guard)
  if (headers !== undefined) {
    const limit = rateLimit({ limiter: await sluiceLimiter(order), ...headers })
    return (request, response) => void limit(request, response).then((passed) => (passed ? response.end(BODY) : undefined))
  }
  switch (guard) {
    case 'bare':
      return (_request, response) => void response.end(BODY)
    case 'async': {
      const pass = async (): Promise<boolean> => true
      return (_request, response) => void pass().then(() => response.end(BODY))
    }
    case 'constant':
      return (_request, response) => {
        for (const [name, value] of fields) response.setHeader(name, value)
        response.statusCode = status
        response.end(status === 200 ? BODY : REFUSAL)
      }
    default:
      throw new Error(`${guard} does not run on node:http`)
  }
}
