import express, { type Request, type RequestHandler, Router } from 'express'
import { rateLimit } from '../../src/adapters/express.ts'
import { createLimiter, type Decision, tokenBucket } from '../../src/index.ts'

/**
 * This file compiles with Express 5, and with the types of Express 4 (`tsconfig.express-4.json`). It is never run. The check `types` fails
 * if a line does not compile. It also fails if the line below an `@ts-expect-error` compiles.
 */
const limiter = createLimiter({ limit: tokenBucket({ rate: '10/s', burst: 20 }) })
const app = express()
const router = Router()

// U2: the framework's own request, without an annotation.
app.get('/a/:id', rateLimit({ limiter, key: (req) => req.params.id }))
app.post('/a', rateLimit({ limiter, key: (req) => req.body.user }))
app.get('/a', rateLimit({ limiter, key: (req) => JSON.stringify(req.query['user']) }))
app.use(rateLimit({ limiter, key: (req) => req.ip ?? req.get('x-client') ?? 'nobody' }))
app.use('/a', rateLimit({ limiter, skip: (req) => req.secure, cost: (req) => Number(req.query['n'] ?? 1) }))
router.get('/a/:id', rateLimit({ limiter, key: (req) => req.params.id }))
app.get('/a', rateLimit({ limiter, limit: (req) => tokenBucket({ rate: '1/s', burst: req.secure ? 5 : 1 }) }))
app.get(
  '/a',
  rateLimit({ limiter, onDenied: (req, res, decision) => void res.status(429).json({ path: req.path, wait: decision.retryAfterMs }) }),
)
app.get('/a/:id', [rateLimit({ limiter, key: (req) => req.params.id }), rateLimit({ limiter })])
app.post('/a', rateLimit({ limiter, countWhen: 'failure', key: (req) => req.body.user, holdMs: 5_000 }))
app.get('/a', rateLimit({ limiter, countWhen: (res) => res.statusCode === 200, actualCost: async (res) => Number(res.locals['tokens']) }))
app.get('/a', rateLimit({ limiter, actualCost: (res, req) => (req.secure && res.headersSent ? undefined : 1) }))
// @ts-expect-error a word that says nothing
app.use(rateLimit({ limiter, countWhen: 'failed' }))
// @ts-expect-error a property that the response does not have
app.use(rateLimit({ limiter, countWhen: (res) => res.nothing }))
// @ts-expect-error a cost that is not a number
app.use(rateLimit({ limiter, actualCost: () => '5' }))
const stored: RequestHandler = rateLimit({ limiter, key: (req) => req.hostname })
app.use(stored)
// @ts-expect-error a property that the request does not have
app.use(rateLimit({ limiter, key: (req) => req.nothing }))
// @ts-expect-error a key that is not a text
app.use(rateLimit({ limiter, key: (req) => req.path.length }))
// @ts-expect-error `limit` is a function
app.use(rateLimit({ limiter, limit: tokenBucket({ rate: '1/s', burst: 1 }) }))
// @ts-expect-error `limit` returns a limit
app.use(rateLimit({ limiter, limit: () => undefined }))

// If Express knows the route's parameters, or the type names them, the compiler checks which parameters `key` reads.
app.route('/a/:id').get(rateLimit({ limiter, key: (req) => req.params.id }))
// @ts-expect-error a parameter that the route does not have
app.route('/a/:id').get(rateLimit({ limiter, key: (req) => req.params.name }))
app.get<{ id: string }>('/a/:id', rateLimit({ limiter, key: (req) => req.params.id }))
// @ts-expect-error a parameter that the route does not have
app.get<{ id: string }>('/a/:id', rateLimit({ limiter, key: (req) => req.params.name }))
app.get('/a/:id', rateLimit<Request<{ id: string }>>({ limiter, key: (req) => req.params.id }))
// @ts-expect-error a parameter that the annotation does not have
app.get('/a/:id', rateLimit({ limiter, key: (req: Request<{ id: string }>) => req.params.name }))

// Requests of one's own.
interface Authenticated extends Request {
  readonly account: { readonly id: string }
}
app.get('/a/:id', rateLimit({ limiter, key: (req: Authenticated) => req.account.id }))

// The middleware of a limit does not change the type of the request that later handlers get.
app.get('/a/:id', rateLimit({ limiter }), (req, res) => void res.send(req.params.id satisfies string))
const shared = rateLimit({ limiter })
app.use(shared)
app.get('/a/:id', shared, rateLimit({ limiter, key: (req) => req.params.id }), (req, res) => void res.send(req.params.id satisfies string))
// @ts-expect-error a parameter that the route does not have
app.get('/a/:id', rateLimit({ limiter, key: (req) => req.params.id }), (req, res) => void res.send(req.params.name))

// U7: a handler sees the decision.
app.get('/a', rateLimit({ limiter }), (req, res) => {
  const decision: Decision | undefined = req.rateLimit
  res.json({ remaining: decision?.limits[0]?.remaining })
  // @ts-expect-error it may be absent
  res.json(req.rateLimit.allowed)
})
