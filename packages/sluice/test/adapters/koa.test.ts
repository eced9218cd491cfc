import Koa from 'koa'
import { Router } from '@koa/router'
import { describe, expect, it, onTestFinished } from 'vitest'
import { rateLimit } from '../../src/adapters/koa.ts'
import { createLimiter, tokenBucket } from '../../src/index.ts'
import type { DecisionEvent } from '../../src/observe/events.ts'
import { createEngine, parsePolicy } from '../../src/policy.ts'
import { memoryStore } from '../../src/stores/memory/memory-store.ts'
import { adapterSuite } from '../../src/testing.ts'
import { sendRequest } from '../../src/testing/send-http.ts'
import { manualClock } from '../../src/time/manual.ts'
import { OWN } from './listen.ts'
import { listenKoa } from './listen-koa.ts'

adapterSuite<Koa.Context>('koa', {
  header: (context, name) => context.get(name) || undefined,
  path: ({ originalUrl }) => originalUrl,
  serve: async (options, answer, mayAnswer) => {
    const app = new Koa()
    app.silent = true
    const onDenied = (context: Koa.Context, decision: Parameters<NonNullable<typeof answer>>[0]): void => {
      context.status = 418
      context.body = answer?.(decision)
    }
    app.use(rateLimit<Koa.Context>({ ...options, ...(answer === undefined ? {} : { onDenied }) }))
    app.use(async (context) => {
      await mayAnswer
      context.set(OWN)
      context.body = 'hello'
    })
    return listenKoa(app)
  },
})

describe('koa', () => {
  // Their clocks stand still: on the system clock, a pause of a second before the next request would leave `t=3599`.
  const limiter = (burst = 1) =>
    createLimiter({ limits: { [`burst-${burst}`]: tokenBucket({ rate: '1/h', burst }) }, clock: manualClock() })
  const start = async (app: Koa): Promise<string> => {
    const served = await listenKoa(app)
    onTestFinished(() => served.close())
    return served.url
  }

  it('U7: a handler sees the decision', async () => {
    const app = new Koa()
    app.use(rateLimit({ limiter: limiter(5), skip: ({ path }) => path === '/free' }))
    app.use((ctx) => void (ctx.body = { left: ctx.state.rateLimit?.limits[0]?.remaining ?? 'none' }))
    const url = await start(app)
    expect([(await sendRequest(url)).text, (await sendRequest(url, { path: '/free' })).text]).toEqual(['{"left":4}', '{"left":"none"}'])
  })

  it('U2: a key may use the parameters of the route, and the state', async () => {
    const app = new Koa()
    const router = new Router()
    app.use((ctx, next) => ((ctx.state['user'] = ctx.get('x-user')), next()))
    router.get('/people/:id', rateLimit({ limiter: limiter(), key: (ctx) => ctx.params['id'] ?? '' }), (ctx) => void (ctx.body = 'hello'))
    router.get('/user', rateLimit({ limiter: limiter(), key: (ctx) => String(ctx.state['user']) }), (ctx) => void (ctx.body = 'hello'))
    app.use(router.routes())
    const url = await start(app)
    const seen: number[] = []
    for (const id of ['ada', 'ada', 'bob']) seen.push((await sendRequest(url, { path: `/people/${id}` })).status)
    for (const user of ['ada', 'ada', 'bob']) seen.push((await sendRequest(url, { path: '/user', headers: { 'x-user': user } })).status)
    expect(seen).toEqual([200, 429, 200, 200, 429, 200])
  })

  it('two limits on one way are in one list, and what middleware before them set stays', async () => {
    const app = new Koa()
    app.use((ctx, next) => (ctx.set('Vary', 'Origin'), next()))
    app.use(rateLimit({ limiter: limiter(5) }))
    app.use(rateLimit({ limiter: limiter() }))
    app.use((ctx) => void (ctx.body = 'hello'))
    const url = await start(app)
    for (const [status, left] of [
      [200, 4],
      [429, 3],
    ])
      expect(await sendRequest(url)).toMatchObject({
        status,
        headers: { ratelimit: `"burst-5";r=${left};t=3600, "burst-1";r=0;t=3600`, 'ratelimit-limit': '1', vary: 'Origin' },
      })
  })

  it('reports the route to an engine as a pattern', async () => {
    const events: DecisionEvent[] = []
    const policy = parsePolicy('version: 1\nrules:\n  - { name: people, match: { path: /api/people/** }, key: [], rate: 1/h, burst: 9 }\n')
    const engine = createEngine({ policy, store: memoryStore(), observers: [{ onDecision: (event) => void events.push(event) }] })
    const app = new Koa()
    const router = new Router({ prefix: '/api' })
    router.use(rateLimit({ engine }))
    router.get('/people/:name', rateLimit({ engine }), (ctx) => void (ctx.body = 'hello'))
    router.get(/\/pattern/, (ctx) => void (ctx.body = 'hello'))
    app.use(router.routes()).use(rateLimit({ engine }))
    const url = await start(app)
    expect((await sendRequest(url, { path: '/api/people/ada?q=1' })).headers['ratelimit']).toMatch(/^"people";r=8;t=3600/)
    for (const path of ['/api/pattern/ada', '/none']) await sendRequest(url, { path })
    expect(events.map(({ route }) => route)).toEqual(['/api/people/:name', '/api/people/:name', undefined, undefined])
  })

  it('an answer that was sent while the limit was called is left alone', async () => {
    const app = new Koa()
    let decide = (_key: string): void => {}
    const key = new Promise<string>((resolve) => (decide = resolve))
    const chains: Promise<unknown>[] = []
    app.use((ctx, next) => {
      chains.push(next())
      ctx.body = 'too late'
    })
    let handled = 0
    app.use(rateLimit({ limiter: limiter(), key: () => key }))
    app.use(() => void (handled += 1))
    const url = await start(app)
    for (let count = 0; count < 2; count += 1) expect((await sendRequest(url)).text).toBe('too late')
    decide('one')
    await Promise.all(chains)
    expect(handled).toBe(1)
  })

  it('U8: a denial after the head was sent ends the answer', async () => {
    const app = new Koa()
    const errors: unknown[] = []
    app.on('error', (error) => errors.push(error))
    app.use((ctx, next) => ((ctx.status = 200), ctx.res.write('begun, '), next()))
    app.use(rateLimit({ limiter: limiter(), key: async () => 'one' }))
    app.use((ctx) => void (ctx.body = 'and done'))
    const url = await start(app)
    expect((await sendRequest(url)).text).toBe('begun, and done')
    expect(await sendRequest(url)).toMatchObject({ status: 200, text: 'begun, ' })
    expect(errors).toEqual([])
  })

  it('a denial is sent if other code has set ctx.respond to false', async () => {
    const app = new Koa()
    const errors: unknown[] = []
    app.on('error', (error) => errors.push(error))
    app.use((ctx, next) => ((ctx.respond = false), next()))
    const onDenied = (ctx: Koa.Context): void => void (ctx.body = 'slow down')
    const own = rateLimit<Koa.Context>({ limiter: limiter(), onDenied })
    const usual = rateLimit<Koa.Context>({ limiter: limiter() })
    app.use((ctx, next) => (ctx.path === '/own' ? own : usual)(ctx, next))
    app.use((ctx) => void ctx.res.end('hello'))
    const url = await start(app)
    for (const path of ['/', '/own']) expect((await sendRequest(url, { path })).text).toBe('hello')
    const usualDenial = await sendRequest(url)
    expect(usualDenial).toMatchObject({ status: 429, headers: { 'content-type': 'application/problem+json' } })
    expect(JSON.parse(usualDenial.text)).toMatchObject({ status: 429, reason: 'quota' })
    expect(await sendRequest(url, { path: '/own' })).toMatchObject({ status: 429, text: 'slow down' })
    expect(errors).toEqual([])
  })

  it('passes errors to the error event of the app', async () => {
    const app = new Koa()
    const errors: unknown[] = []
    app.on('error', (error) => errors.push(error))
    app.use(rateLimit({ limiter: limiter(), cost: () => -5 }))
    expect((await sendRequest(await start(app))).status).toBe(500)
    expect(errors).toMatchObject([{ code: 'INVALID_COST' }])
  })

  it.each([undefined, null])('a request whose key or onDenied rejects with %j gets a response', async (reason) => {
    const app = new Koa()
    const errors: unknown[] = []
    app.on('error', (error) => errors.push(error))
    const failing = (): Promise<never> => Promise.reject(reason)
    const byKey = rateLimit({ limiter: limiter(), key: failing })
    const denying = rateLimit({ limiter: limiter(), cost: 2, onDenied: failing })
    app.use((ctx, next) => (ctx.path === '/key' ? byKey : denying)(ctx, next))
    app.use((ctx) => void (ctx.body = 'passed'))
    const url = await start(app)
    for (const path of ['/key', '/denied']) expect((await sendRequest(url, { path })).status).toBe(500)
    const message = `rateLimit: a function of the options failed with ${reason}, which is not an Error`
    expect(errors).toMatchObject([{ message }, { message }])
  })
})
