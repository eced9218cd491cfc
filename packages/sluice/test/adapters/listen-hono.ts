import { serve } from '@hono/node-server'
import type { Hono } from 'hono'
import type { Served } from '../../src/testing/adapter-bench.ts'

const { Request: request, Response: response } = globalThis

/**
 * Serves a Hono app by Node, on a free port of the loopback address. Hono's server for Node replaces the global Request and Response.
 * Several test files share a process, so the original ones are put back when the server closes.
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
