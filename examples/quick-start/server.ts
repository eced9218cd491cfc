import type { AddressInfo } from 'node:net'
import express, { type Request } from 'express'
import { Redis } from 'ioredis'
import { DistributedRateLimiter } from 'sluice/redis'

const redis = new Redis(process.env['REDIS_URL'] ?? 'redis://127.0.0.1:6379', { lazyConnect: true, enableOfflineQueue: false })
// If the connection is lost later, `degraded` of the limiter's answers says so, and ioredis goes on connecting.
let problem = 'no answer'
redis.on('error', (error: Error) => (problem = error.message))
await redis.connect().catch(() => {
  console.error(`no Redis at ${redis.options.host}:${redis.options.port} (${problem}): start one, or name yours in REDIS_URL`)
  process.exit(1)
})
const limiter = new DistributedRateLimiter(redis)

/** Returns the user of a request. Here a user is an address; use what identifies yours. */
const userOf = (req: Request): { readonly id: string } => ({ id: req.socket.remoteAddress ?? 'unknown' })

const app = express()
// oxlint-disable-next-line oxc/no-async-endpoint-handlers -- Express 5 passes what is rejected here to its error handler
app.use(async (req, res, next) => {
  const result = await limiter.consume(`user:${userOf(req).id}`, 100, 10)
  res.set('X-RateLimit-Limit', String(result.limit))
  res.set('X-RateLimit-Remaining', String(result.remaining))
  if (result.allowed) return next()
  res.set('Retry-After', String(result.retryAfter))
  if (result.degraded === undefined) res.status(429).json({ error: 'Too many requests' })
  // Redis did not answer, so this is no used-up quota.
  else res.status(503).json({ error: 'Try again in a moment' })
})
app.get('/', (_req, res) => void res.json({ hello: 'world' }))

const server = app.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1', (error) => {
  if (error !== undefined) throw error
  console.log(`quick-start listens on http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})
