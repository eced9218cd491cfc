import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createLimiter, tokenBucket } from 'sluice'
import { rateLimit } from 'sluice/node'

// Without the option `store`, the buckets are in the memory of this process, and are lost when it ends.
const limiter = createLimiter({ name: 'api', limit: tokenBucket({ rate: '5/s', burst: 20 }) })
const limit = rateLimit({ limiter, skip: ({ url }) => url === '/healthz' })

const server = createServer((request, response) => {
  limit(request, response)
    .then((passed) => {
      // The limit has answered a refused request already.
      if (passed) response.setHeader('Content-Type', 'application/json').end('{"hello":"world"}\n')
    })
    .catch((error: unknown) => {
      // A used-up quota or a failing store never leads here, only an error in a function that was passed as an option.
      console.error(error)
      response.writeHead(500).end()
    })
})
server.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1', () => {
  console.log(`node-adapter listens on http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})
