import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createLimiter, tokenBucket } from 'sluice'
import { rateLimit } from 'sluice/fetch'

// Without the option `store`, the buckets are in the memory of this process, and are lost when it ends.
const limiter = createLimiter({ name: 'api', limit: tokenBucket({ rate: '5/s', burst: 20 }) })

// A Request does not contain the client's address, so the platform passes it to the handler. On Deno `address` is
// (_request, info) => info.remoteAddr.hostname, on Bun (request, server) => server.requestIP(request)?.address.
const limit = rateLimit<[peer: string | undefined]>({ limiter, address: (_request, peer) => peer })
const handler = limit.wrap(() => Response.json({ hello: 'world' }))

// Node needs these lines to call the handler. Deno.serve, Bun.serve and edge workers call it themselves.
const server = createServer((message, response) => {
  const request = new Request(`http://localhost${message.url ?? '/'}`, { headers: message.headers as Record<string, string> })
  handler(request, message.socket.remoteAddress)
    .then(async (answer) => response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text()))
    .catch(() => response.writeHead(500).end())
})
server.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1', () => {
  console.log(`fetch-adapter listens on http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})
