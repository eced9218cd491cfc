import type { AddressInfo } from 'node:net'
import Koa from 'koa'
import { createLimiter, tokenBucket } from 'sluice'
import { rateLimit } from 'sluice/koa'

// No store is named, so the buckets are in this process and gone with it.
const limiter = createLimiter({ name: 'api', limit: tokenBucket({ rate: '5/s', burst: 20 }) })

const app = new Koa()
app.use(rateLimit({ limiter }))
app.use((ctx) => {
  ctx.body = { hello: 'world' }
})

const server = app.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1', () => {
  console.log(`koa-adapter listens on http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})
