import { getConnInfo } from '@hono/node-server/conninfo'
import { type Context, Hono } from 'hono'
import { cors } from 'hono/cors'
import { streamText } from 'hono/streaming'
import { describe, expect, it, onTestFinished } from 'vitest'
import { rateLimit } from '../../src/adapters/hono.ts'
import { createLimiter, tokenBucket } from '../../src/index.ts'
import type { DecisionEvent } from '../../src/observe/events.ts'
import { createEngine, parsePolicy } from '../../src/policy.ts'
import { memoryStore } from '../../src/stores/memory/memory-store.ts'
import { adapterSuite } from '../../src/testing.ts'
import { sendRequest } from '../../src/testing/send-http.ts'
import { manualClock } from '../../src/time/manual.ts'
import { OWN } from './listen.ts'
import { listenHono } from './listen-hono.ts'

const address = (c: Context): string | undefined => getConnInfo(c).remote.address

adapterSuite<Context>('hono on node', {
  header: ({ req }, name) => req.header(name),
  path: ({ req }) => new URL(req.url).pathname + new URL(req.url).search,
  serve: async (options, answer, mayAnswer) => {
    const app = new Hono()
    const onDenied = (c: Context, decision: Parameters<NonNullable<typeof answer>>[0]) => c.text(answer?.(decision) ?? '', 418)
    app.use(rateLimit({ ...options, address, ...(answer === undefined ? {} : { onDenied }) }))
    app.all('*', async (c) => (await mayAnswer, c.body('hello', 200, OWN)))
    app.onError((_error, c) => c.body(null, 500))
    return listenHono(app)
  },
})

describe('hono', () => {
  // It stands still: on the system clock, a pause of a second before the next request would leave `t=3599`.
  const clock = manualClock()
  const limiter = (burst = 1) => createLimiter({ limits: { [`burst-${burst}`]: tokenBucket({ rate: '1/h', burst }) }, clock })
  const all = (): string => 'all'

  it('needs an address or a key, for a Request has neither', () => {
    expect(() => rateLimit({ limiter: limiter() })).toThrow('give address')
    expect(() => rateLimit({ limiter: limiter(), key: all })).not.toThrow()
  })

  it('U7: a handler sees the decision', async () => {
    const app = new Hono()
    app.use(rateLimit({ limiter: limiter(5), key: all, skip: (c) => c.req.path === '/free' }))
    app.get('/free', (c) => c.json({ decision: c.get('rateLimit') ?? null }))
    app.get('/', (c) => c.json({ left: c.get('rateLimit')?.limits[0]?.remaining }))
    expect(await (await app.request('/')).json()).toEqual({ left: 4 })
    expect(await (await app.request('/free')).json()).toEqual({ decision: null })
  })

  it('U2: a key may use the parameters of the route', async () => {
    const app = new Hono()
    app.get('/people/:id', rateLimit({ limiter: limiter(), key: (c) => c.req.param('id') }), (c) => c.text('hello'))
    const seen: number[] = []
    for (const id of ['ada', 'ada', 'bob']) seen.push((await app.request(`/people/${id}`)).status)
    expect(seen).toEqual([200, 429, 200])
  })

  it.each([
    ['of the context', (c: Context) => c.text('hello')],
    ['of its own', () => new Response('hello')],
    ['that cannot be changed', () => fetch('data:text/plain,hello')],
    ['that streams', (c: Context) => streamText(c, async (stream) => void (await stream.write('hello')))],
  ])('adds the fields to a response %s', async (_what, handler) => {
    const app = new Hono()
    app.use(rateLimit({ limiter: limiter(5), key: all }))
    app.get('/', handler)
    const answer = await app.request('/')
    expect([await answer.text(), answer.headers.get('ratelimit')]).toEqual(['hello', '"burst-5";r=4;t=3600'])
  })

  it('adds the fields to the answer of an error handler and to a 404', async () => {
    const app = new Hono()
    app.use(rateLimit({ limiter: limiter(5), key: all }))
    app.get('/', () => {
      throw new Error('of the handler')
    })
    app.onError((_error, c) => c.text('sorry', 500))
    for (const [path, status, left] of [
      ['/', 500, 4],
      ['/none', 404, 3],
    ] as const) {
      const answer = await app.request(path)
      expect([answer.status, answer.headers.get('ratelimit')]).toEqual([status, `"burst-5";r=${left};t=3600`])
    }
  })

  it('two limits on one way are in one list, and what middleware before them set stays', async () => {
    const app = new Hono()
    app.use(cors({ origin: ['https://example.com'] }))
    app.use(rateLimit({ limiter: limiter(5), key: all }))
    app.get('/', rateLimit({ limiter: limiter(), key: all }), (c) => c.text('hello'))
    for (const [status, left] of [
      [200, 4],
      [429, 3],
    ]) {
      const answer = await app.request('/', { headers: { Origin: 'https://example.com' } })
      expect(answer.status).toBe(status)
      expect(Object.fromEntries(answer.headers)).toMatchObject({
        ratelimit: `"burst-5";r=${left};t=3600, "burst-1";r=0;t=3600`,
        'ratelimit-limit': '1',
        'access-control-allow-origin': 'https://example.com',
      })
    }
  })

  it('a denial replaces a response that other middleware made and did not return', async () => {
    const app = new Hono()
    app.use(async (c, next) => {
      c.res = new Response('too early', { headers: { 'X-Own': '1' } })
      await next()
    })
    app.use(rateLimit({ limiter: limiter(), key: all }))
    expect(await (await app.request('/')).text()).toBe('too early')
    const denied = await app.request('/')
    expect([denied.status, denied.headers.get('x-own'), denied.headers.get('content-type')]).toEqual([429, '1', 'application/problem+json'])
    expect(await denied.json()).toMatchObject({ status: 429, reason: 'quota' })
  })

  it.each<[string, (c: Context) => Response | Promise<Response>]>([
    ['of its own', () => new Response('slow down', { status: 429 })],
    ['of the context', (c) => c.text('slow down', 429)],
    ['that cannot be changed', async () => new Response((await fetch('data:text/plain,slow down')).body, { status: 429 })],
  ])('a denial that onDenied returns has the fields, also in place of a response of other middleware: %s', async (_what, onDenied) => {
    const app = new Hono()
    app.use(async (c, next) => {
      c.res = new Response('too early', { headers: { 'Content-Length': '9' } })
      await next()
    })
    app.use(rateLimit({ limiter: limiter(5), key: all }))
    app.use(rateLimit({ limiter: limiter(), key: all, onDenied, retryAfterJitter: false }))
    await app.request('/')
    const denied = await app.request('/')
    expect([denied.status, await denied.text()]).toEqual([429, 'slow down'])
    expect(Object.fromEntries(denied.headers)).toMatchObject({
      'retry-after': '3600',
      'cache-control': 'no-store',
      ratelimit: '"burst-5";r=3;t=3600, "burst-1";r=0;t=3600',
      'ratelimit-limit': '1',
    })
  })

  it.each<[string, (c: Context) => Response | Promise<Response>]>([
    ['of its own', () => new Response('slow down', { status: 429 })],
    ['of the context', (c) => c.text('slow down', 429)],
    ['that cannot be changed', () => fetch('data:text/plain,slow down')],
  ])('a denial that onDenied returns has the fields: %s', async (_what, onDenied) => {
    const app = new Hono()
    app.use(rateLimit({ limiter: limiter(5), key: all }))
    app.use(rateLimit({ limiter: limiter(), key: all, onDenied, retryAfterJitter: false }))
    await app.request('/')
    const denied = await app.request('/')
    expect(await denied.text()).toBe('slow down')
    expect(Object.fromEntries(denied.headers)).toMatchObject({
      'retry-after': '3600',
      'cache-control': 'no-store',
      ratelimit: '"burst-5";r=3;t=3600, "burst-1";r=0;t=3600',
      'ratelimit-limit': '1',
    })
  })

  it('a denial of its own that onDenied returns for all requests keeps its fields, and gets none of earlier requests', async () => {
    const shared = new Response(null, { status: 429, headers: { 'Retry-After': '7' } })
    const app = new Hono()
    app.use(rateLimit({ limiter: limiter(5), key: (c) => c.req.query('user') ?? '', cost: 6, onDenied: () => shared }))
    for (const user of ['ada', 'bob']) {
      const { headers } = await app.request(`/?user=${user}`)
      expect([headers.get('retry-after'), headers.get('ratelimit')]).toEqual(['7', '"burst-5";r=5;t=0'])
    }
  })

  it('U8: a denial after the head was sent does not throw', async () => {
    const app = new Hono()
    const errors: Error[] = []
    app.onError((error, c) => (errors.push(error), c.body(null, 500)))
    let decide = (): void => {}
    const key = new Promise<string>((resolve) => (decide = () => resolve('one')))
    let ended: Promise<void> | undefined
    app.use(async (c, next) => {
      ended = next()
      return c.text('too late')
    })
    app.use(rateLimit({ limiter: limiter(), cost: 2, key: () => key }))
    const served = await listenHono(app)
    onTestFinished(() => served.close())
    expect((await sendRequest(served.url)).text).toBe('too late')
    decide()
    await ended
    expect(errors).toEqual([])
  })

  it('reports the route to an engine as a pattern', async () => {
    const events: DecisionEvent[] = []
    const policy = parsePolicy('version: 1\nrules:\n  - { name: people, match: { path: /people/** }, key: [], rate: 1/h, burst: 9 }\n')
    const engine = createEngine({
      policy,
      store: memoryStore({ clock }),
      clock,
      observers: [{ onDecision: (event) => void events.push(event) }],
    })
    const app = new Hono()
    app.use(rateLimit({ engine, address: () => '192.0.2.1' }))
    app.get('/people/:name', (c) => c.text('hello'))
    app.route(
      '/people',
      new Hono().get('/sub/:name', (c) => c.text('hello')),
    )
    const fields: (string | null)[] = []
    for (const path of ['/people/ada', '/people/sub/ada', '/none']) fields.push((await app.request(path)).headers.get('ratelimit'))
    expect(fields).toEqual(['"people";r=8;t=3600', '"people";r=7;t=3600', null])
    expect(events.map(({ route }) => route)).toEqual(['/people/:name', '/people/sub/:name', undefined])
  })

  it('takes the host of the URL too: alone if there is no Host field, as over HTTP/2, and as a second host if they differ', async () => {
    const policy = parsePolicy(
      'version: 1\nrules:\n  - { name: api, match: { host: api.example.com }, key: ["host:"], rate: 1/h, burst: 9 }\n',
    )
    const app = new Hono()
    app.use(rateLimit({ engine: createEngine({ policy, store: memoryStore({ clock }), clock }), address: () => '192.0.2.1' }))
    app.get('/', (c) => c.text('hello'))
    const fieldsOf = async (url: string, headers = {}): Promise<string | null> =>
      (await app.request(url, { headers })).headers.get('ratelimit')
    expect(await fieldsOf('https://api.example.com/')).toBe('"api";r=8;t=3600')
    expect(await fieldsOf('https://api.example.com/', { Host: 'API.example.com:443' })).toBe('"api";r=7;t=3600')
    expect(await fieldsOf('https://api.example.com/', { Host: 'other.example.com' })).toBe('"api";r=8;t=3600')
    expect(await fieldsOf('http://inside/', { Host: 'api.example.com' })).toBe('"api";r=7;t=3600')
    expect(await fieldsOf('http://inside/', { Host: 'other.example.com' })).toBeNull()
  })

  it('passes errors to the error handler', async () => {
    const app = new Hono()
    app.use(rateLimit({ limiter: limiter(), key: all, cost: () => -5 }))
    app.onError((error, c) => c.json({ code: (error as Error & { code?: string }).code }, 500))
    expect(await (await app.request('/')).json()).toEqual({ code: 'INVALID_COST' })
  })

  it.each([undefined, 'route', [[]], { status: 401 }])(
    'passes a value that is not an error, %j, as an error to the error handler',
    async (reason) => {
      const app = new Hono()
      const failing = (): Promise<never> => Promise.reject(reason)
      app.use('/key', rateLimit({ limiter: limiter(), key: failing }))
      app.use('/denied', rateLimit({ limiter: limiter(), key: all, cost: 2, onDenied: failing }))
      const causes: unknown[] = []
      app.onError(({ message, cause }, c) => (causes.push(cause), c.text(message, 500)))
      for (const path of ['/key', '/denied'])
        expect(await (await app.request(path)).text()).toMatch(
          /^rateLimit: a function of the options failed with .+, which is not an Error$/,
        )
      expect(causes).toEqual([reason, reason])
    },
  )
})
