import { fastify, type FastifyRequest, type FastifyTypeProvider } from 'fastify'
import { rateLimit, rateLimitPlugin } from '../../src/adapters/fastify.ts'
import { createLimiter, type Decision, tokenBucket } from '../../src/index.ts'

/**
 * This file compiles with Fastify. It is never run. The check `types` fails if a line does not compile. It also fails if the line below an
 * `@ts-expect-error` compiles.
 */
const limiter = createLimiter({ limit: tokenBucket({ rate: '10/s', burst: 20 }) })
const app = fastify()
const handler = async (): Promise<string> => 'hello'

// U2: the framework's own request, without an annotation.
app.addHook('onRequest', rateLimit({ limiter, key: (request) => request.ip }))
app.addHook('preHandler', rateLimit({ limiter, key: (request) => String(request.body), cost: (request) => request.ip.length }))
app.get('/', { onRequest: rateLimit({ limiter, key: (request) => request.hostname }) }, handler)
app.get<{ Params: { id: string } }>('/a/:id', { onRequest: rateLimit({ limiter, key: (request) => request.params.id }) }, handler)
app.post<{ Body: { user: string } }>('/a', { preHandler: [rateLimit({ limiter, key: (request) => request.body.user })] }, handler)
app.route<{ Querystring: { user: string } }>({
  method: 'GET',
  url: '/b',
  onRequest: rateLimit({ limiter, key: (request) => request.query.user }),
  handler,
})
app.get(
  '/c',
  { onRequest: rateLimit({ limiter, onDenied: (_request, reply) => reply.code(429).type('text/plain').send('Slow down.') }) },
  handler,
)
app.get('/d/:id', { onRequest: rateLimit<{ Params: { id: string } }>({ limiter, key: (request) => request.params.id }) }, handler)
app.addHook('onRequest', rateLimit({ limiter, countWhen: (reply, request) => reply.statusCode === 200 && request.ip !== '' }))
// @ts-expect-error a property that the reply does not have
app.addHook('onRequest', rateLimit({ limiter, countWhen: (reply) => reply.nothing }))
type Named = FastifyRequest<{ Params: { id: string } }>
app.get('/e/:id', { onRequest: rateLimit({ limiter, key: (request: Named) => request.params.id }) }, handler)
// @ts-expect-error a property that the request does not have
app.addHook('onRequest', rateLimit({ limiter, key: (request) => request.nothing }))
// @ts-expect-error a key that is not a text
app.addHook('onRequest', rateLimit({ limiter, key: (request) => request.ip.length }))
app.get<{ Params: { id: string } }>(
  '/f/:id',
  {
    // @ts-expect-error a parameter that the route does not have
    onRequest: rateLimit({ limiter, key: (request) => request.params.name }),
  },
  handler,
)

// Other servers, scopes and type providers.
fastify({ http2: true }).addHook('onRequest', rateLimit({ limiter, key: (request) => request.ip }))
app.register(async (scope) => void scope.addHook('onRequest', rateLimit({ limiter })))
interface Provider extends FastifyTypeProvider {
  readonly validator: this['schema'] extends { readonly type: infer T } ? T : unknown
}
const schema = { body: { type: {} as { user: string } } }
app
  .withTypeProvider<Provider>()
  .post('/g', { schema, preHandler: rateLimit({ limiter, key: (request) => request.ip }) }, (request, reply) =>
    reply.send(request.body.user satisfies string),
  )

// The plugin, and options of a route.
app.register(rateLimitPlugin, { limiter, key: (request) => request.ip, hook: 'preHandler' })
// @ts-expect-error a hook that there is not
app.register(rateLimitPlugin, { limiter, hook: 'onSend' })
app.get('/h', { config: { rateLimit: false } }, handler)
app.get('/i', { config: { rateLimit: { limiter, cost: 5, key: (request) => request.ip } } }, handler)
app.get('/j', { config: { rateLimit: { countWhen: 'failure', actualCost: (reply) => reply.elapsedTime } } }, handler)
app.get('/j/:id', { config: { rateLimit: { key: (request) => request.params.id } } }, handler)
app.get<{ Params: { id: string } }>('/k/:id', { config: { rateLimit: { key: (request: Named) => request.params.id } } }, (request, reply) =>
  reply.send(request.params.id satisfies string),
)
// @ts-expect-error a cost that is not a number
app.get('/l', { config: { rateLimit: { cost: () => '5' } } }, handler)

// U7: a handler sees the decision.
app.get('/n', (request, reply) => {
  const decision: Decision | undefined = request.rateLimit
  reply.send(decision?.limits[0]?.remaining)
  // @ts-expect-error it may be absent
  reply.send(request.rateLimit.allowed)
})
