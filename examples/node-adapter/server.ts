import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createLimiter, tokenBucket } from 'sluice'
import { rateLimit } from 'sluice/node'

// No store is named, so the buckets are in this process and gone with it.
const limiter = createLimiter({ name: 'api', limit: tokenBucket({ rate: '5/s', burst: 20 }) })
const limit = rateLimit({ limiter, skip: ({ url }) => url === '/healthz' })

const server = createServer((request, response) => {
  limit(request, response)
    .then((passed) => {
      // A refused request has been answered.
      if (passed) response.setHeader('Content-Type', 'application/json').end('{"hello":"world"}\n')
    })
    .catch((error: unknown) => {
      // Never for a used-up quota or a failing store: only for a mistake in an option's function.
      console.error(error)
      response.writeHead(500).end()
    })
})
server.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1', () => {
  console.log(`node-adapter listens on http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})
