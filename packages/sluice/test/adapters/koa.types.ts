import { Router } from '@koa/router'
import Koa from 'koa'
import { rateLimit, type RateLimitState } from '../../src/adapters/koa.ts'
import { createLimiter, type Decision, tokenBucket } from '../../src/index.ts'

/**
 * This file compiles with `sluice/koa`. It is never run. The check `types` fails if a line does not compile. It also fails if the line
 * below an `@ts-expect-error` compiles.
 */
const limiter = createLimiter({ limit: tokenBucket({ rate: '10/s', burst: 20 }) })
const app = new Koa()
const router = new Router()

// U2: the framework's own context, without an annotation.
app.use(rateLimit({ limiter, key: (ctx) => ctx.ip }))
app.use(rateLimit({ limiter, key: (ctx) => ctx.get('x-client'), skip: (ctx) => ctx.secure, cost: (ctx) => Number(ctx.query['n'] ?? 1) }))
router.get('/a/:id', rateLimit({ limiter, key: (ctx) => ctx.params['id'] ?? '' }))
router.get('/a', rateLimit({ limiter, key: (ctx) => String(ctx.state['user']) }))
app.use(rateLimit({ limiter, onDenied: (ctx, decision) => void (ctx.body = { path: ctx.path, wait: decision.retryAfterMs }) }))
app.use(rateLimit({ limiter, countWhen: (ctx) => ctx.status === 200, actualCost: (ctx) => ctx.response.length }))
// @ts-expect-error a key that is not a text
app.use(rateLimit({ limiter, key: (ctx) => ctx.path.length }))
// @ts-expect-error `limit` returns a limit
app.use(rateLimit({ limiter, limit: () => undefined }))
// @ts-expect-error a cost that is not a number
app.use(rateLimit({ limiter, cost: (ctx) => ctx.path }))

// The state and context of an app.
interface State extends RateLimitState {
  user: { readonly id: string }
}
interface Added {
  readonly tenant: string
}
type Own = Koa.ParameterizedContext<State, Added>
const own = new Koa<State, Added>()
own.use(rateLimit<Own>({ limiter, key: (ctx) => `${ctx.tenant} ${ctx.state.user.id}` }))
own.use(rateLimit({ limiter, key: (ctx: Own) => ctx.state.user.id }))
// @ts-expect-error a property that this state does not have
own.use(rateLimit<Own>({ limiter, key: (ctx) => ctx.state.account }))
// @ts-expect-error a property that this context does not have
own.use(rateLimit<Own>({ limiter, key: (ctx) => ctx.account }))

// U7: a handler sees the decision.
app.use((ctx) => {
  const decision: Decision | undefined = ctx.state.rateLimit
  ctx.body = decision?.limits[0]?.remaining
  // @ts-expect-error it may be absent
  ctx.body = ctx.state.rateLimit.allowed
})
own.use((ctx) => void (ctx.body = ctx.state.rateLimit?.allowed satisfies boolean | undefined))
