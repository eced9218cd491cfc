import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Served } from '../../src/testing/adapter-bench.ts'

/** A server on a free port of the loopback address. */
export async function listen(listener: RequestListener): Promise<Served> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** What the handler of every suite says of its own answer. */
export const OWN = { Vary: 'Accept', 'Cache-Control': 'max-age=60' }
