import type { AddressInfo } from 'node:net'
import express from 'express'
import { createLimiter, tokenBucket } from 'sluice'
import { rateLimit } from 'sluice/express'

// Without the option `store`, the buckets are in the memory of this process, and are lost when it ends.
const limiter = createLimiter({ name: 'api', limit: tokenBucket({ rate: '5/s', burst: 20 }) })

const app = express()
app.use(rateLimit({ limiter }))
app.get('/', (_req, res) => void res.json({ hello: 'world' }))

const server = app.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1', (error) => {
  if (error !== undefined) throw error
  console.log(`express-adapter listens on http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})
