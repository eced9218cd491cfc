import { fastify, type FastifyInstance } from 'fastify'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type FastifyPluginOptions, rateLimit, rateLimitPlugin } from '../../src/adapters/fastify.ts'
import { createLimiter, type Limiter, tokenBucket } from '../../src/index.ts'
import { createEngine, parsePolicy } from '../../src/policy.ts'
import { memoryStore } from '../../src/stores/memory/memory-store.ts'
import { manualClock } from '../../src/time/manual.ts'

// Their clocks stand still: on the system clock, a pause of a second before the next request would leave `t=3599`.
const limiter = (name: string, burst: number): Limiter =>
  createLimiter({ limits: { [name]: tokenBucket({ rate: '1/h', burst }) }, clock: manualClock() })
const handler = async (): Promise<string> => 'hello'

/** An app with the plugin. */
async function made(options: Partial<FastifyPluginOptions> = {}): Promise<FastifyInstance> {
  const app = fastify()
  onTestFinished(() => app.close())
  await app.register(rateLimitPlugin, { limiter: limiter('all', 2), ...options })
  return app
}

/** The statuses of requests to these paths, one after another. */
async function statuses(app: FastifyInstance, ...urls: readonly string[]): Promise<number[]> {
  const seen: number[] = []
  for (const url of urls) seen.push((await app.inject({ url })).statusCode)
  return seen
}

describe('rateLimitPlugin', () => {
  it('limits all routes of the app, also those of its scopes, and what no route answers', async () => {
    const app = await made()
    app.get('/a', handler)
    app.register(async (scope) => void scope.get('/b', handler))
    expect(await statuses(app, '/a', '/b', '/a', '/b', '/none')).toEqual([200, 200, 429, 429, 429])
  })

  it('limits its scope alone', async () => {
    const app = fastify()
    onTestFinished(() => app.close())
    app.register(async (scope) => {
      await scope.register(rateLimitPlugin, { limiter: limiter('scope', 1) })
      scope.get('/in', handler)
    })
    app.get('/out', handler)
    expect(await statuses(app, '/in', '/in', '/out', '/out')).toEqual([200, 429, 200, 200])
  })

  it('U7: config.rateLimit: false switches it off for a route', async () => {
    const app = await made({ limiter: limiter('all', 1) })
    app.get('/free', { config: { rateLimit: false } }, handler)
    app.get('/own', { config: { rateLimit: false }, onRequest: rateLimit({ limiter: limiter('own', 1) }) }, handler)
    app.get('/a', handler)
    expect(await statuses(app, '/free', '/free', '/a', '/free', '/a')).toEqual([200, 200, 200, 200, 429])
    expect(await statuses(app, '/own', '/own')).toEqual([200, 429])
    const free = await app.inject({ url: '/free' })
    expect([free.headers['ratelimit'], free.headers['x-ratelimit-limit']]).toEqual([undefined, undefined])
  })

  it('U7: config.rateLimit overrides it for a route: each option by its name', async () => {
    const app = await made({ limiter: limiter('all', 4), key: () => 'one' })
    app.get('/a', handler)
    app.get('/dear', { config: { rateLimit: { cost: 3 } } }, handler)
    app.get('/login', { config: { rateLimit: { limiter: limiter('login', 1) } } }, handler)
    app.get('/keyed', { config: { rateLimit: { key: ({ query }) => query.user } } }, handler)
    expect(await statuses(app, '/login', '/login')).toEqual([200, 429])
    expect((await app.inject({ url: '/login' })).headers['ratelimit']).toBe('"login";r=0;t=3600')
    expect((await app.inject({ url: '/dear' })).headers['ratelimit']).toBe('"all";r=1;t=3600')
    expect(await statuses(app, '/a', '/a', '/keyed?user=ada')).toEqual([200, 429, 200])
  })

  it('a limiter or an engine of a route replaces what the plugin has for its own', async () => {
    const policy = parsePolicy('version: 1\nrules: [{ name: rule, key: [], rate: 1/h, burst: 1 }]')
    const engine = createEngine({ policy, store: memoryStore() })
    const app = await made({ key: () => 'one', limit: () => tokenBucket({ rate: '1/h', burst: 9 }), cost: 1 })
    app.get('/engine', { config: { rateLimit: { engine } } }, handler)
    app.get('/several', { config: { rateLimit: { limiter: limiter('other', 3) } } }, handler)
    expect((await app.inject({ url: '/engine' })).headers['ratelimit']).toBe('"rule";r=0;t=3600')
    expect((await app.inject({ url: '/several' })).headers['ratelimit']).toBe('"other";r=2;t=3600')
    const prefixed = await made({ ipv6Prefix: 56 })
    prefixed.get('/', { config: { rateLimit: { key: () => 'one' } } }, handler)
    expect(await statuses(prefixed, '/', '/', '/')).toEqual([200, 200, 429])
    const proxied = await made({ trustedProxies: ['10.0.0.0/8'], onWarning: () => {} })
    proxied.get('/', { config: { rateLimit: { key: () => 'one' } } }, handler)
    expect(await statuses(proxied, '/', '/', '/')).toEqual([200, 200, 429])
  })

  it('U7: options of a route that are wrong are one error when the route is registered', async () => {
    const app = await made()
    const register =
      (rateLimitConfig: unknown): (() => unknown) =>
      () =>
        app.get('/login', { config: { rateLimit: rateLimitConfig as false } }, handler)
    for (const [config, message] of [
      [{ max: 5 }, 'rateLimit: config.rateLimit of the route /login: unknown option max; known are limiter, engine, key'],
      [{ key: 'ip' }, 'rateLimit: config.rateLimit of the route /login: key is "ip", expected a function'],
      [{ cost: 0 }, 'rateLimit: config.rateLimit of the route /login: cost is 0, expected a number above 0 or a function'],
      [true, 'rateLimit: config.rateLimit of the route /login is true, expected false or an object with options'],
      [null, 'rateLimit: config.rateLimit of the route /login is null, expected false or an object with options'],
      ['10/s', 'rateLimit: config.rateLimit of the route /login is "10/s", expected false or an object with options'],
    ] as const)
      expect(register(config)).toThrow(message)
    expect(register({ cost: 0 })).toThrow(expect.objectContaining({ code: 'INVALID_COST' }))
    expect(register({ max: 5 })).toThrow(expect.objectContaining({ code: 'INVALID_OPTIONS' }))
  })

  it('options of a route that was registered before the plugin was ready are read at its first request', async () => {
    const app = fastify()
    onTestFinished(() => app.close())
    app.register(rateLimitPlugin, { limiter: limiter('all', 1) })
    app.get('/free', { config: { rateLimit: false } }, handler)
    app.get('/wrong', { config: { rateLimit: { max: 5 } as never } }, handler)
    app.get('/a', handler)
    expect(await statuses(app, '/free', '/free', '/wrong', '/a', '/a')).toEqual([200, 200, 500, 200, 429])
    expect((await app.inject({ url: '/wrong' })).json()).toMatchObject({
      message: expect.stringContaining('route /wrong: unknown option max'),
    })
  })

  it('options of a route without limiter or engine keep the limit of each of several plugins', async () => {
    const app = await made({ limiter: limiter('root', 100) })
    app.register(async (scope) => {
      await scope.register(rateLimitPlugin, { limiter: limiter('child', 3) })
      scope.get('/a', { config: { rateLimit: { cost: 1 } } }, handler)
      scope.get('/dear', { config: { rateLimit: { cost: 2 } } }, handler)
      scope.get('/own', { config: { rateLimit: { limiter: limiter('own', 2) } } }, handler)
    })
    expect((await app.inject({ url: '/a' })).headers['ratelimit']).toBe('"root";r=99;t=3600, "child";r=2;t=3600')
    expect(await statuses(app, '/dear', '/a')).toEqual([200, 429])
    expect(await statuses(app, '/own', '/own', '/own')).toEqual([200, 200, 429])
  })

  it('several of it are switched off together, and a limiter of a route replaces all of them', async () => {
    const app = await made({ limiter: limiter('one', 5) })
    await app.register(rateLimitPlugin, { limiter: limiter('two', 5), hook: 'preHandler' })
    app.get('/a', handler)
    app.get('/free', { config: { rateLimit: false } }, handler)
    app.get('/own', { config: { rateLimit: { limiter: limiter('own', 2) } } }, handler)
    expect((await app.inject({ url: '/a' })).headers['ratelimit']).toBe('"one";r=4;t=3600, "two";r=4;t=3600')
    expect((await app.inject({ url: '/free' })).headers['ratelimit']).toBeUndefined()
    expect((await app.inject({ url: '/own' })).headers['ratelimit']).toBe('"own";r=1;t=3600')
  })

  it('decides in the hook of its option, where a key may come from the body', async () => {
    const key = ({ body }: { body: unknown }): string => (body as { user: string }).user
    const app = await made({ limiter: limiter('all', 1), hook: 'preHandler', key })
    app.post('/', handler)
    const post = async (user: string): Promise<number> => (await app.inject({ method: 'POST', url: '/', payload: { user } })).statusCode
    expect([await post('ada'), await post('ada'), await post('bob')]).toEqual([200, 429, 200])
  })

  it.each([
    [{ hook: 'onSend' }, 'rateLimitPlugin: hook is "onSend", expected onRequest, preValidation or preHandler'],
    [{ max: 5 }, 'rateLimit: unknown option max'],
    [{ engine: {} }, 'engine is {}, expected what createEngine gave'],
  ])('refuses %j when it is registered', async (options, message) => {
    await expect(made(options as never)).rejects.toThrow(message)
  })
})

describe('a hook without the plugin', () => {
  it('U7: does not ignore config.rateLimit in silence', async () => {
    const app = fastify()
    onTestFinished(() => app.close())
    app.addHook('onRequest', rateLimit({ limiter: limiter('all', 1) }))
    app.get('/free', { config: { rateLimit: false } }, handler)
    app.get('/a', handler)
    expect(await statuses(app, '/free', '/a', '/a')).toEqual([500, 200, 429])
    expect((await app.inject({ url: '/free' })).json()).toMatchObject({
      message: 'rateLimit: config.rateLimit of the route /free needs rateLimitPlugin',
    })
  })
})
