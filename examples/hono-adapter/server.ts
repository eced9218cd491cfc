import { serve } from '@hono/node-server'
import { getConnInfo } from '@hono/node-server/conninfo'
import { Hono } from 'hono'
import { createLimiter, tokenBucket } from 'sluice'
import { rateLimit } from 'sluice/hono'

// Without the option `store`, the buckets are in the memory of this process, and are lost when it ends.
const limiter = createLimiter({ name: 'api', limit: tokenBucket({ rate: '5/s', burst: 20 }) })

const app = new Hono()
// A Request does not contain the client's address. Other platforms have their own getConnInfo, in hono/deno, hono/bun and
// hono/cloudflare-workers.
app.use(rateLimit({ limiter, address: (c) => getConnInfo(c).remote.address }))
app.get('/', (c) => c.json({ hello: 'world' }))

serve({ fetch: app.fetch, port: Number(process.env['PORT'] ?? 3000), hostname: '127.0.0.1' }, ({ port }) => {
  console.log(`hono-adapter listens on http://127.0.0.1:${port}`)
})
