import { fastify } from 'fastify'
import { createLimiter, tokenBucket } from 'sluice'
import { rateLimit } from 'sluice/fastify'

// Without the option `store`, the buckets are in the memory of this process, and are lost when it ends.
const limiter = createLimiter({ name: 'api', limit: tokenBucket({ rate: '5/s', burst: 20 }) })

const app = fastify()
app.addHook('onRequest', rateLimit({ limiter, headers: { legacy: 'delta' } }))
app.get('/', async () => ({ hello: 'world' }))

const address = await app.listen({ port: Number(process.env['PORT'] ?? 3000), host: '127.0.0.1' })
console.log(`fastify-adapter listens on ${address}`)
