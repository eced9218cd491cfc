import { type Context, Hono } from 'hono'
import { rateLimit } from '../../src/adapters/hono.ts'
import { createLimiter, type Decision, tokenBucket } from '../../src/index.ts'

/**
 * This file compiles with `sluice/hono`. It is never run. The check `types` fails if a line does not compile. It also fails if the line
 * below an `@ts-expect-error` compiles.
 */
const limiter = createLimiter({ limit: tokenBucket({ rate: '10/s', burst: 20 }) })
const app = new Hono()

// U2: the framework's own context, without an annotation.
app.use(rateLimit({ limiter, key: (c) => c.req.header('x-client') ?? 'nobody' }))
app.get('/a/:id', rateLimit({ limiter, key: (c) => c.req.param('id') }), (c) => c.text('a'))
app.get('/a', rateLimit({ limiter, address: (c) => c.req.header('x-peer'), skip: (c) => c.req.path === '/free' }))
app.get(
  '/a',
  rateLimit({ limiter, key: async (c) => (await c.req.json<{ user: string }>()).user, cost: (c) => Number(c.req.query('n') ?? 1) }),
)
app.get('/a', rateLimit({ limiter, key: () => 'k', onDenied: (c, decision) => c.json({ wait: decision.retryAfterMs }, 429) }))
app.get('/a', rateLimit({ limiter, key: () => 'k', countWhen: (c) => c.res.status === 200, actualCost: (c) => c.res.status }))
// @ts-expect-error a property that the context does not have
app.use(rateLimit({ limiter, key: (c) => c.nothing }))
// @ts-expect-error a key that is not a text
app.use(rateLimit({ limiter, key: (c) => c.req.path.length }))
// @ts-expect-error an answer that is not a Response
app.use(rateLimit({ limiter, key: () => 'k', onDenied: () => 'no' }))

// The variables and bindings of an app.
interface Own {
  Variables: { user: { readonly id: string } }
  Bindings: { readonly REGION: string }
}
const own = new Hono<Own>()
own.use(rateLimit<Own>({ limiter, key: (c) => `${c.get('user').id} ${c.env.REGION}` }))
own.use(rateLimit({ limiter, key: (c: Context<Own>) => c.var.user.id }))
// @ts-expect-error a variable that the app does not have
own.use(rateLimit<Own>({ limiter, key: (c) => c.get('account') }))

// The middleware of a limit does not change the type of the context that later handlers get.
app.get('/a/:id', rateLimit({ limiter, key: (c) => c.req.param('id') }), (c) => c.text(c.req.param('id') satisfies string))
// @ts-expect-error a parameter that the route does not have
app.get('/a/:id', rateLimit({ limiter, key: () => 'k' }), (c) => c.text(c.req.param('name')))
own.get('/a', rateLimit({ limiter, key: () => 'k' }), (c) => c.text(c.get('user').id satisfies string))

// U7: a handler sees the decision.
app.get('/a', rateLimit({ limiter, key: () => 'k' }), (c) => {
  const decision: Decision | undefined = c.get('rateLimit')
  return c.json({ remaining: decision?.limits[0]?.remaining })
})
// @ts-expect-error it may be absent
app.get('/a', (c) => c.json(c.get('rateLimit').allowed))
