import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createLimiter, tokenBucket } from 'sluice'
import { rateLimit } from 'sluice/fetch'

// No store is named, so the buckets are in this process and gone with it.
const limiter = createLimiter({ name: 'api', limit: tokenBucket({ rate: '5/s', burst: 20 }) })

// A Request has no address: the platform knows it. Deno: (_request, info) => info.remoteAddr.hostname.
// Bun: (request, server) => server.requestIP(request)?.address.
const limit = rateLimit<[peer: string | undefined]>({ limiter, address: (_request, peer) => peer })
const handler = limit.wrap(() => Response.json({ hello: 'world' }))

// What Deno.serve, Bun.serve or a worker do themselves.
const server = createServer((message, response) => {
  const request = new Request(`http://localhost${message.url ?? '/'}`, { headers: message.headers as Record<string, string> })
  handler(request, message.socket.remoteAddress)
    .then(async (answer) => response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text()))
    .catch(() => response.writeHead(500).end())
})
server.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1', () => {
  console.log(`fetch-adapter listens on http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})
