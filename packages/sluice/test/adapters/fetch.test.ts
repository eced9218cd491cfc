import type { IncomingMessage } from 'node:http'
import { describe, expect, it } from 'vitest'
import { rateLimit } from '../../src/adapters/fetch.ts'
import { createLimiter, type Limiter, memoryStore, tokenBucket } from '../../src/index.ts'
import { createEngine, parsePolicy } from '../../src/policy.ts'
import { adapterSuite } from '../../src/testing.ts'
import { manualClock } from '../../src/time/manual.ts'
import { listen, OWN } from './listen.ts'

/** What a platform passes for a request, in addition to the Request itself: facts of the connection. This one has the peer's address. */
interface Platform {
  readonly peer: string | undefined
}

async function requestOf(message: IncomingMessage): Promise<Request> {
  const left = new AbortController()
  message.socket.once('close', () => left.abort())
  const chunks: Buffer[] = []
  for await (const chunk of message) chunks.push(chunk as Buffer)
  const body = chunks.length === 0 ? {} : { body: Buffer.concat(chunks) }
  const headers = message.headers as Record<string, string>
  return new Request(new URL(`http://localhost${message.url ?? '/'}`), {
    method: message.method ?? 'GET',
    headers,
    signal: left.signal,
    ...body,
  })
}

adapterSuite<Request>('fetch', {
  header: ({ headers }, name) => headers.get(name) ?? undefined,
  path: ({ url }) => new URL(url).pathname + new URL(url).search,
  serve: async (options, answer, mayAnswer) => {
    const handler = rateLimit<[Platform]>({
      ...options,
      address: (_request, { peer }) => peer,
      ...(answer === undefined ? {} : { onDenied: (_request, decision) => new Response(answer(decision), { status: 418 }) }),
    }).wrap(async () => (await mayAnswer, new Response('hello', { headers: OWN })))
    return listen((message, response) => {
      const handled = requestOf(message).then((request) => handler(request, { peer: message.socket.remoteAddress }))
      handled.then(
        async (answered) => {
          response.writeHead(answered.status, Object.fromEntries(answered.headers))
          response.end(await answered.text())
        },
        () => response.writeHead(500).end(),
      )
    })
  },
})

describe('fetch', () => {
  // Their clocks stand still: on the system clock, a pause of a second before the next request would leave `t=3599`.
  const limiter = (burst = 1) =>
    createLimiter({ limits: { [`burst-${burst}`]: tokenBucket({ rate: '1/h', burst }) }, clock: manualClock() })
  const newRequest = (): Request => new Request('http://localhost/')

  it('needs an address or a key, for a Request has neither', () => {
    expect(() => rateLimit({ limiter: limiter() })).toThrow('give address')
    expect(() => rateLimit({ limiter: limiter(), address: '1.1.1.1' as never })).toThrow('address is "1.1.1.1", expected a function')
    expect(() => rateLimit({ limiter: limiter(), key: () => 'all' })).not.toThrow()
  })

  it('U3: wrap refuses what is no handler, and says what it is', () => {
    const limit = rateLimit({ limiter: limiter(), key: () => 'all' })
    for (const handler of [5, undefined, null, { fetch: () => new Response() }])
      expect(() => limit.wrap(handler as never)).toThrow(
        expect.objectContaining({ code: 'INVALID_OPTIONS', message: expect.stringMatching(/^wrap: handler is .+ a function/) as string }),
      )
  })

  it('requests without an address count as one', async () => {
    const handler = rateLimit({ limiter: limiter(), address: () => undefined }).wrap(() => new Response('hello'))
    expect([(await handler(newRequest())).status, (await handler(newRequest())).status]).toEqual([200, 429])
  })

  it("check gives a denial, or a way to add the fields to one's own answer", async () => {
    const limit = rateLimit<[{ user: string }]>({ limiter: limiter(), key: () => 'all' })
    const first = await limit.check(newRequest(), { user: 'ada' })
    expect(first.denial).toBeUndefined()
    expect(first.applyHeaders(new Response('mine')).headers.get('ratelimit')).toBe('"burst-1";r=0;t=3600')
    const second = await limit.check(newRequest(), { user: 'ada' })
    expect([second.denial?.status, second.denial?.headers.get('content-type')]).toEqual([429, 'application/problem+json'])
    expect(await second.denial?.json()).toMatchObject({ status: 429, 'violated-policies': ['burst-1'] })
  })

  it('copies answers that cannot be changed, with body, status and fields', async () => {
    const frozen = Response.redirect('http://localhost/there', 302)
    expect(() => frozen.headers.set('a', 'b')).toThrow(TypeError)
    const handler = rateLimit({ limiter: limiter(), key: () => 'all' }).wrap(() => frozen)
    const answer = await handler(newRequest())
    expect([answer.status, answer.headers.get('location'), answer.headers.get('ratelimit')]).toEqual([
      302,
      'http://localhost/there',
      '"burst-1";r=0;t=3600',
    ])
  })

  it('a response without a body that a handler returns for all requests gets the fields of each', async () => {
    const shared = new Response(null, {
      status: 204,
      headers: [
        ['Set-Cookie', 'a=1'],
        ['Set-Cookie', 'b=2'],
      ],
    })
    const key = ({ headers }: Request): string => headers.get('x-user') ?? ''
    const handler = rateLimit({ limiter: limiter(5), key, skip: ({ url }) => url.endsWith('/free') }).wrap(() => shared)
    const fields: (string | null)[] = []
    for (const user of ['ada', 'ada', 'bob']) {
      const { status, headers } = await handler(new Request('http://localhost/', { headers: { 'x-user': user } }))
      expect([status, headers.getSetCookie()]).toEqual([204, ['a=1', 'b=2']])
      fields.push(headers.get('ratelimit'))
    }
    expect(fields).toEqual(['"burst-5";r=4;t=3600', '"burst-5";r=3;t=3600', '"burst-5";r=4;t=3600'])
    expect(await handler(new Request('http://localhost/free'))).toBe(shared)
    expect(shared.headers.has('ratelimit')).toBe(false)
  })

  it('passes an answer that cannot be copied on as it is', async () => {
    const broken = Response.error()
    const handler = rateLimit({ limiter: limiter(), key: () => 'all' }).wrap(() => broken)
    expect(await handler(newRequest())).toBe(broken)
  })

  it('takes the host of the URL too: alone if there is no Host field, as over HTTP/2, and as a second host if they differ', async () => {
    const policy = parsePolicy(
      'version: 1\nrules:\n  - { name: api, match: { host: api.example.com }, key: ["host:"], rate: 1/h, burst: 9 }\n',
    )
    const clock = manualClock()
    const engine = createEngine({ policy, store: memoryStore({ clock }), clock })
    const handler = rateLimit({ engine, address: () => '192.0.2.1' }).wrap(() => new Response('hello'))
    const fieldsOf = async (url: string, headers = {}): Promise<string | null> =>
      (await handler(new Request(url, { headers }))).headers.get('ratelimit')
    expect(await fieldsOf('https://api.example.com/')).toBe('"api";r=8;t=3600')
    expect(await fieldsOf('https://api.example.com/', { Host: 'API.example.com:443' })).toBe('"api";r=7;t=3600')
    expect(await fieldsOf('https://api.example.com/', { Host: 'other.example.com' })).toBe('"api";r=8;t=3600')
    expect(await fieldsOf('http://inside/', { Host: 'api.example.com' })).toBe('"api";r=7;t=3600')
    expect(await fieldsOf('http://inside/', { Host: 'other.example.com' })).toBeNull()
    expect(await fieldsOf('data:text/plain,hello')).toBeNull()
  })

  it('a limit within a limit: one list, the nearer one in single values', async () => {
    const inner = rateLimit({ limiter: limiter(1), key: () => 'all' }).wrap(() => new Response('hello'))
    const outer = rateLimit({ limiter: limiter(5), key: () => 'all' }).wrap(inner)
    const { headers } = await outer(newRequest())
    expect([headers.get('ratelimit'), headers.get('ratelimit-limit')]).toEqual(['"burst-1";r=0;t=3600, "burst-5";r=4;t=3600', '1'])
  })

  it('passes the platform to onDenied and to the handler, and the body unread', async () => {
    const limit = rateLimit<[{ user: string }]>({
      limiter: limiter(),
      key: () => 'all',
      onDenied: async (_request, { reason }, { user }) => new Response(`${user}: ${reason}`, { status: 418 }),
    })
    const handler = limit.wrap(async (request, { user }) => new Response(`${user} said ${await request.text()}`))
    const post = (): Request => new Request('http://localhost/', { method: 'POST', body: 'hi' })
    expect(await (await handler(post(), { user: 'ada' })).text()).toBe('ada said hi')
    expect(await (await handler(post(), { user: 'bob' })).text()).toBe('bob: quota')
  })
})

describe('Next.js, by the signatures of its route handlers and of its middleware', () => {
  /** A Request and a Response as Next.js makes them: with more fields than the standard ones. */
  class NextRequest extends Request {
    get nextUrl(): URL {
      return new URL(this.url)
    }
  }
  const nextResponse = (): Response => new Response(null, { headers: { 'x-middleware-next': '1' } })
  const request = (user: string): NextRequest => new NextRequest('http://localhost/api/items/7?q=1', { headers: { 'x-user': user } })
  const key = ({ headers }: Request): string => headers.get('x-user') ?? 'nobody'
  interface Context {
    readonly params: Promise<{ readonly id: string }>
  }
  const limiter = (): Limiter => createLimiter({ limit: tokenBucket({ rate: '1/h', burst: 1 }) })

  it('a route handler: wrap keeps the type of the request, and passes the context on', async () => {
    const limit = rateLimit<[Context]>({ limiter: limiter(), key })
    const GET: (request: NextRequest, context: Context) => Promise<Response> = limit.wrap(async ({ nextUrl }: NextRequest, { params }) =>
      Response.json({ id: (await params).id, q: nextUrl.searchParams.get('q') }),
    )
    const context: Context = { params: Promise.resolve({ id: '7' }) }
    const first = await GET(request('ada'), context)
    expect([first.status, await first.json(), first.headers.get('ratelimit')]).toEqual([200, { id: '7', q: '1' }, '"default";r=0;t=3600'])
    const second = await GET(request('ada'), context)
    expect([second.status, second.headers.get('retry-after')]).toEqual([429, expect.stringMatching(/^\d+$/)])
    expect((await GET(request('bob'), context)).status).toBe(200)
  })

  it('a middleware: check gives the denial, or adds the fields to what lets the request pass', async () => {
    const limit = rateLimit({ limiter: limiter(), key })
    const middleware = async (incoming: NextRequest): Promise<Response> => {
      const { denial, applyHeaders } = await limit.check(incoming)
      return denial ?? applyHeaders(nextResponse())
    }
    const first = await middleware(request('ada'))
    expect([first.headers.get('x-middleware-next'), first.headers.get('ratelimit')]).toEqual(['1', '"default";r=0;t=3600'])
    const second = await middleware(request('ada'))
    expect([second.status, second.headers.get('x-middleware-next')]).toEqual([429, null])
  })
})
