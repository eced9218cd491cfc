import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { describe, expect, it, onTestFinished } from 'vitest'
import { rateLimit } from '../../src/adapters/fastify.ts'
import { createLimiter, tokenBucket } from '../../src/index.ts'
import type { DecisionEvent } from '../../src/observe/events.ts'
import { createEngine, parsePolicy } from '../../src/policy.ts'
import { memoryStore } from '../../src/stores/memory/memory-store.ts'
import { adapterSuite } from '../../src/testing.ts'
import { OWN } from './listen.ts'

adapterSuite<FastifyRequest>('fastify', {
  header: ({ headers }, name) => headers[name]?.toString(),
  path: ({ url }) => url,
  serve: async (options, answer, mayAnswer) => {
    const app = fastify({ forceCloseConnections: true })
    app.addHook(
      'onRequest',
      rateLimit({
        ...options,
        ...(answer === undefined ? {} : { onDenied: (_request, reply, decision) => (reply.code(418), answer(decision)) }),
      }),
    )
    app.addContentTypeParser('*', (_request, _payload, done) => done(null))
    app.all('/*', async (_request, reply) => (await mayAnswer, reply.headers(OWN).send('hello')))
    return { url: await app.listen({ host: '127.0.0.1', port: 0 }), close: () => app.close() }
  },
})

describe('fastify', () => {
  const limiter = (burst: number) => createLimiter({ limits: { [`burst-${burst}`]: tokenBucket({ rate: '1/h', burst }) } })
  const made = (): FastifyInstance => {
    const app = fastify()
    onTestFinished(() => app.close())
    return app
  }

  it('limits its scope, one route, and what no route has', async () => {
    const app = made()
    app.register(async (scope) => {
      scope.addHook('onRequest', rateLimit({ limiter: limiter(1) }))
      scope.get('/in', async () => 'hello')
    })
    app.get('/one', { preHandler: rateLimit({ limiter: limiter(1) }) }, async () => 'hello')
    app.get('/out', async () => 'hello')
    const statuses: number[] = []
    for (const url of ['/in', '/in', '/one', '/one', '/out', '/out']) statuses.push((await app.inject({ url })).statusCode)
    expect(statuses).toEqual([200, 429, 200, 429, 200, 200])
  })

  it('limits requests that no route answers', async () => {
    const app = made()
    app.addHook('onRequest', rateLimit({ limiter: limiter(1) }))
    expect([(await app.inject({ url: '/none' })).statusCode, (await app.inject({ url: '/none' })).statusCode]).toEqual([404, 429])
  })

  it('a key may come from a body that was parsed', async () => {
    const app = made()
    const key = ({ body }: { body: unknown }): string => (body as { user: string }).user
    app.post('/', { preHandler: rateLimit({ limiter: limiter(1), key }) }, async () => 'hello')
    const post = async (user: string): Promise<number> => (await app.inject({ method: 'POST', url: '/', payload: { user } })).statusCode
    expect([await post('ada'), await post('ada'), await post('bob')]).toEqual([200, 429, 200])
  })

  it('two limits on one way are in one list, and what a hook before them set stays', async () => {
    const app = made()
    app.addHook('onRequest', async (_request, reply) => void reply.header('Vary', 'Origin'))
    app.addHook('onRequest', rateLimit({ limiter: limiter(5) }))
    app.get('/', { onRequest: rateLimit({ limiter: limiter(1) }) }, async () => 'hello')
    expect((await app.inject({ url: '/' })).headers).toMatchObject({
      ratelimit: '"burst-5";r=4;t=3600, "burst-1";r=0;t=3600',
      'ratelimit-limit': '1',
      vary: 'Origin',
    })
  })

  it('reports the route to an engine as a pattern', async () => {
    const events: DecisionEvent[] = []
    const policy = parsePolicy('version: 1\nrules:\n  - { name: people, match: { path: /people/** }, key: [], rate: 1/h, burst: 3 }\n')
    const engine = createEngine({ policy, store: memoryStore(), observers: [{ onDecision: (event) => void events.push(event) }] })
    const app = made()
    app.addHook('onRequest', rateLimit({ engine }))
    app.get('/people/:name', async () => 'hello')
    expect((await app.inject({ url: '/%70eople/ada' })).headers['ratelimit']).toBe('"people";r=2;t=3600')
    await app.inject({ url: '/none' })
    expect(events.map(({ route }) => route)).toEqual(['/people/:name', undefined])
  })

  it('onDenied may send its answer itself', async () => {
    const app = made()
    const onDenied = (_request: FastifyRequest, reply: FastifyReply) => reply.code(418).send('mine')
    app.addHook('onRequest', rateLimit({ limiter: limiter(1), cost: 2, onDenied }))
    expect((await app.inject({ url: '/' })).body).toBe('mine')
  })

  it('leaves a reply alone that was sent while the limit was called', async () => {
    const app = made()
    const key = (request: FastifyRequest): string => ((request as FastifyRequest & { reply: FastifyReply }).reply.send('first'), 'a')
    app.addHook('onRequest', async (request, reply) => void Object.assign(request, { reply }))
    app.addHook('onRequest', rateLimit({ limiter: limiter(1), key, cost: 2 }))
    const answer = await app.inject({ url: '/' })
    expect([answer.statusCode, answer.body, answer.headers['ratelimit']]).toEqual([200, 'first', undefined])
  })

  it('passes errors to the error handler', async () => {
    const app = made()
    app.addHook('onRequest', rateLimit({ limiter: limiter(1), cost: () => -5 }))
    app.setErrorHandler((error: { code?: string }, _request, reply) => reply.code(500).send({ code: error.code }))
    app.get('/', async () => 'hello')
    expect((await app.inject({ url: '/' })).json()).toEqual({ code: 'INVALID_COST' })
  })
})
