import { createRequire } from 'node:module'
import express, { type Express, type NextFunction, type Request, type Response } from 'express'
import { describe, expect, it, onTestFinished } from 'vitest'
import { rateLimit } from '../../src/adapters/express.ts'
import { createLimiter, tokenBucket } from '../../src/index.ts'
import { createEngine, parsePolicy } from '../../src/policy.ts'
import { memoryStore } from '../../src/stores/memory/memory-store.ts'
import type { DecisionEvent } from '../../src/observe/events.ts'
import { adapterSuite } from '../../src/testing.ts'
import { sendRequest } from '../../src/testing/send-http.ts'
import { manualClock } from '../../src/time/manual.ts'
import { listen, OWN } from './listen.ts'
import { draws } from '../draws.ts'

const four = createRequire(import.meta.url)('express-4') as typeof express
const VERSIONS: [string, typeof express][] = [
  ['express 5', express],
  ['express 4', four],
]

for (const [name, framework] of VERSIONS.slice(0, draws(2, 1))) {
  adapterSuite<Request>(name, {
    header: ({ headers }, field) => headers[field]?.toString(),
    path: ({ originalUrl }) => originalUrl,
    serve: async (options, answer, mayAnswer) => {
      const app = framework()
      app.use(
        rateLimit({
          ...options,
          ...(answer === undefined ? {} : { onDenied: (_request, response, decision) => void response.status(418).end(answer(decision)) }),
        }),
      )
      app.use(async (_request, response) => {
        await mayAnswer
        response.set(OWN).end('hello')
      })
      app.use((_error: unknown, _request: Request, response: Response, _next: NextFunction) => void response.status(500).end())
      return listen(app)
    },
  })
}

describe.each(VERSIONS)('%s', (_name, framework) => {
  const start = async (app: Express): Promise<string> => {
    const served = await listen(app)
    onTestFinished(() => served.close())
    return served.url
  }
  // Their clocks stand still: on the system clock, a pause of a second before the next request would leave `t=3599`.
  const limiter = (burst: number) =>
    createLimiter({ limits: { [`burst-${burst}`]: tokenBucket({ rate: '1/h', burst }) }, clock: manualClock() })

  it('two limits on one way: lists of both, single values of the nearer, and the denying one last', async () => {
    const app = framework()
    app.use(rateLimit({ limiter: limiter(5) }))
    app.get('/', rateLimit({ limiter: limiter(1) }), (_request, response) => void response.end('hello'))
    const url = await start(app)
    expect((await sendRequest(url)).headers).toMatchObject({
      ratelimit: '"burst-5";r=4;t=3600, "burst-1";r=0;t=3600',
      'ratelimit-policy': '"burst-5";q=5;w=18000, "burst-1";q=1;w=3600',
      'ratelimit-limit': '1',
      'x-ratelimit-remaining': '0',
    })
    const denied = await sendRequest(url)
    expect([denied.status, denied.headers['ratelimit']]).toEqual([429, '"burst-5";r=3;t=3600, "burst-1";r=0;t=3600'])
    expect(JSON.parse(denied.text)).toMatchObject({ 'violated-policies': ['burst-1'] })
  })

  it('keeps what middleware before it set, but no cache may keep a denial', async () => {
    const app = framework()
    app.use((_request, response, next) => (response.set({ 'Cache-Control': 'public, max-age=60', Vary: 'Origin' }), next()))
    app.use(rateLimit({ limiter: limiter(1) }))
    app.use((_request, response) => void response.end('hello'))
    const url = await start(app)
    expect((await sendRequest(url)).headers).toMatchObject({ 'cache-control': 'public, max-age=60', vary: 'Origin' })
    expect((await sendRequest(url)).headers).toMatchObject({ 'cache-control': 'no-store', vary: 'Origin' })
  })

  it('a mounted router is matched by its whole path, and only a pattern is reported as route', async () => {
    const events: DecisionEvent[] = []
    const policy = parsePolicy('version: 1\nrules:\n  - { name: people, match: { path: /api/people/** }, key: [], rate: 1/h, burst: 3 }\n')
    const engine = createEngine({ policy, store: memoryStore(), observers: [{ onDecision: (event) => void events.push(event) }] })
    const app = framework()
    const router = framework.Router()
    router.get('/people/:name', rateLimit({ engine }), (_request, response) => void response.end('hello'))
    app.use('/api', router)
    app.get('/plain/:name', rateLimit({ engine }), (_request, response) => void response.end('hello'))
    app.get(/^\/pattern/, rateLimit({ engine }), (_request, response) => void response.end('hello'))
    const url = await start(app)
    expect((await sendRequest(url, { path: '/api/people/ada?q=1' })).headers['ratelimit']).toBe('"people";r=2;t=3600')
    for (const path of ['/plain/ada', '/pattern/ada']) expect((await sendRequest(url, { path })).headers['ratelimit']).toBeUndefined()
    expect(events.map(({ route }) => route)).toEqual(['/api/people/**', '/plain/:name', undefined])
  })

  it('an answer that was sent while the limit was called is left alone', async () => {
    const app = framework()
    let decide = (_key: string): void => {}
    const key = new Promise<string>((resolve) => (decide = resolve))
    app.use((_request, response, next) => (next(), response.end('too late')))
    let handled = 0
    app.use(rateLimit({ limiter: limiter(1), key: () => key }))
    app.use(() => void (handled += 1))
    const url = await start(app)
    expect((await sendRequest(url)).text).toBe('too late')
    expect((await sendRequest(url)).text).toBe('too late')
    decide('one')
    await expect.poll(() => handled).toBe(1)
  })

  it('U8: a denial after the head was sent ends the answer', async () => {
    const app = framework()
    app.use((_request, response, next) => {
      response.type('text').write('begun, ')
      next()
    })
    app.use(rateLimit({ limiter: limiter(1), key: async () => 'one' }))
    app.use((_request, response) => void response.end('and done'))
    const url = await start(app)
    expect((await sendRequest(url)).text).toBe('begun, and done')
    expect(await sendRequest(url)).toMatchObject({ status: 200, text: 'begun, ' })
  })

  it.each([undefined, null, '', 0, false, 'route', 'router'])(
    'a request whose key or onDenied rejects with %j does not pass',
    async (reason) => {
      const messages: unknown[] = []
      const app = framework()
      const failing = (): Promise<never> => Promise.reject(reason)
      const pass = (_request: Request, response: Response): void => void response.end('passed')
      app.get('/key', rateLimit({ limiter: limiter(1), key: failing }), pass)
      app.get('/denied', rateLimit({ limiter: limiter(1), cost: 2, onDenied: failing }), pass)
      app.use(pass)
      app.use((error: Error, _request: Request, response: Response, _next: NextFunction) => {
        messages.push(error.message)
        response.status(500).end('failed')
      })
      const url = await start(app)
      for (const path of ['/key', '/denied']) expect(await sendRequest(url, { path })).toMatchObject({ status: 500, text: 'failed' })
      const message = `rateLimit: a function of the options failed with ${reason === '' ? '""' : String(reason)}`
      expect(messages.map((text) => String(text).replaceAll(/"(.+)"/g, '$1'))).toEqual([
        `${message}, which is not an Error`,
        `${message}, which is not an Error`,
      ])
    },
  )
})
