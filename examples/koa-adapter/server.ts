import type { AddressInfo } from 'node:net'
import Koa from 'koa'
import { createLimiter, tokenBucket } from 'sluice'
import { rateLimit } from 'sluice/koa'

// Without the option `store`, the buckets are in the memory of this process, and are lost when it ends.
const limiter = createLimiter({ name: 'api', limit: tokenBucket({ rate: '5/s', burst: 20 }) })

const app = new Koa()
app.use(rateLimit({ limiter }))
app.use((ctx) => {
  ctx.body = { hello: 'world' }
})

const server = app.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1', () => {
  console.log(`koa-adapter listens on http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})
