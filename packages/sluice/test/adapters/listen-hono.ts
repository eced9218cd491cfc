import { serve } from '@hono/node-server'
import type { Hono } from 'hono'
import type { Served } from '../../src/testing/adapter-bench.ts'

const { Request: request, Response: response } = globalThis

/**
 * A Hono app on node, on a free port of the loopback address. The server replaces the global Request and Response, as it does in every
 * program that uses it. Tests share their process, so they are put back when it closes.
 */
export function listenHono(app: Hono): Promise<Served> {
  return new Promise((resolve) => {
    const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, ({ port }) =>
      resolve({
        url: `http://127.0.0.1:${port}`,
        close: () =>
          new Promise((closed) => {
            server.close(() => closed())
            if ('closeAllConnections' in server) server.closeAllConnections()
            Object.defineProperty(globalThis, 'Request', { value: request })
            Object.defineProperty(globalThis, 'Response', { value: response })
          }),
      }),
    )
  })
}
