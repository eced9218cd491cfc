import { request as httpRequest } from 'node:http'
import { describe, expect, it } from 'vitest'
import { local } from './in-process.ts'

const POLICY = `
version: 1
trustedProxies: [loopback]
headers: { legacy: delta }
rules:
  - { name: search, match: { path: /search, method: POST }, key: ["ip:address"], rate: 1/h, burst: 1 }
  - { name: tenant, match: { host: api.example, path: /tenant }, key: ["query:tenant"], rate: 1/h, burst: 1 }
`
const UNTRUSTING = POLICY.replace('trustedProxies: [loopback]\n', '')

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: string
}

/** Sends a request by node:http. `fetch` would send neither a Host header that the test chooses nor unusual headers with GET. */
function send(url: string, path: string, headers: Record<string, string | string[]>, method = 'GET'): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(`${url}${path}`, { method, headers, agent: false }, (response) => {
      let body = ''
      response.setEncoding('utf8').on('data', (chunk: string) => (body += chunk))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }))
    })
    request.on('error', reject).end()
  })
}

const forwarded = (uri: string, method = 'POST', client = '203.0.113.1') => ({
  'x-forwarded-method': method,
  'x-forwarded-uri': uri,
  'x-forwarded-host': 'api.example',
  'x-forwarded-for': client,
})
const original = (uri: string, method = 'POST', client = '203.0.113.1') => ({
  'x-original-method': method,
  'x-original-uri': uri,
  'x-original-host': 'api.example',
  'x-forwarded-for': client,
})

describe.each([
  ['/v1/auth with X-Forwarded-*', '/v1/auth', forwarded],
  ['/v1/auth with X-Original-*', '/v1/auth', original],
  ['/v1/decision', '/v1/decision', original],
])('%s', (_name, path, facts) => {
  it('decides about the forwarded request, by its own client', async () => {
    const { url } = await local(POLICY)
    const first = await send(url, path, facts('/search?q=1'))
    expect([first.status, first.body]).toEqual([200, ''])
    expect(first.headers).toMatchObject({ ratelimit: '"search";r=0;t=3600', 'x-ratelimit-limit': '1', 'x-ratelimit-reset': '3600' })
    const denied = await send(url, path, facts('/Search/'))
    expect([denied.status, denied.headers['content-type'], denied.headers['cache-control']]).toEqual([
      429,
      'application/problem+json',
      'no-store',
    ])
    expect(Number(denied.headers['retry-after'])).toBeGreaterThanOrEqual(3_600)
    expect(JSON.parse(denied.body)).toMatchObject({ status: 429, 'violated-policies': ['search'] })
    expect(denied.body).not.toContain('203.0.113')
    expect((await send(url, path, facts('/search', 'POST', '203.0.113.2'))).status).toBe(200)
    expect((await send(url, path, facts('/search', 'GET'))).status).toBe(200)
  })

  it('reads the query and the host of the forwarded request', async () => {
    const { url } = await local(POLICY)
    const statuses = []
    for (const tenant of ['a', 'a', 'b']) statuses.push((await send(url, path, facts(`/tenant?x=1&tenant=${tenant}`, 'GET'))).status)
    expect(statuses).toEqual([200, 429, 200])
    const elsewhere = Object.fromEntries(
      Object.entries(facts('/tenant?tenant=a', 'GET')).map(([n, v]) => [n, n.endsWith('host') ? 'b' : v]),
    )
    expect((await send(url, path, elsewhere)).status).toBe(200)
  })

  it.each(['GET', 'POST', 'PUT', 'HEAD', 'OPTIONS', 'DELETE'])('takes a call by %s', async (method) => {
    const { url } = await local(POLICY)
    expect((await send(url, path, facts('/search'), method)).status).toBe(200)
    expect((await send(url, path, facts('/search'), method)).status).toBe(429)
  })

  it('takes the path after its own, as Envoy sends it', async () => {
    const { url } = await local(POLICY)
    const from = { 'x-forwarded-for': '203.0.113.1', host: 'api.example' }
    expect((await send(url, `${path}/search?x`, from, 'POST')).status).toBe(200)
    expect((await send(url, `${path}/search?y`, from, 'POST')).status).toBe(429)
  })
})

describe('/v1/auth', () => {
  it('says 403 on wish, with the status that is meant, for a proxy that knows no other', async () => {
    const { url } = await local(POLICY)
    expect((await send(url, '/v1/auth?denied=403', original('/search'))).status).toBe(200)
    const denied = await send(url, '/v1/auth?denied=403', original('/search'))
    expect([denied.status, denied.headers['x-ratelimit-status']]).toEqual([403, '429'])
    expect(Number(denied.headers['retry-after'])).toBeGreaterThanOrEqual(3_600)
    expect(JSON.parse(denied.body)).toMatchObject({ status: 403 })
  })

  it('takes the first of two wishes: a proxy may append the query of the client', async () => {
    const { url } = await local(POLICY)
    await send(url, '/v1/auth?denied=429&denied=403', forwarded('/search'))
    expect((await send(url, '/v1/auth?denied=429&denied=403', forwarded('/search'))).status).toBe(429)
  })

  it.each([UNTRUSTING, UNTRUSTING.replace('version: 1', 'version: 1\ntrustedProxies: [192.0.2.0/24]')])(
    'is refused to who is no trusted proxy, for that is a mistake in the policy and no denial: %#',
    async (policy) => {
      const answer = await send((await local(policy)).url, '/v1/auth', forwarded('/search'))
      expect([answer.status, JSON.parse(answer.body)]).toEqual([
        400,
        expect.objectContaining({ detail: expect.stringContaining('trustedProxies') }),
      ])
    },
  )

  it('refuses what a client adds to what the proxy says', async () => {
    const { url } = await local(POLICY)
    for (const slipped of [{ 'x-forwarded-uri': '/cheap' }, { 'x-forwarded-method': 'GET' }]) {
      const answer = await send(url, '/v1/auth', { ...original('/search'), ...slipped })
      expect([answer.status, answer.body]).toEqual([400, expect.stringContaining('two different requests')])
    }
    expect((await send(url, '/v1/auth', { ...forwarded('/search'), ...original('/search') })).status).toBe(200)
    for (const name of ['x-forwarded-uri', 'x-forwarded-method']) {
      const answer = await send(url, '/v1/auth', { ...forwarded('/search'), [name]: ['/search', '/cheap'] })
      expect([answer.status, answer.body]).toEqual([400, expect.stringContaining('more than once')])
    }
  })

  it.each([
    ['the path alone, so the method would be that of the call', { ...original('/search'), 'x-forwarded-uri': '/search' }],
    ['another host', { ...original('/search'), ...forwarded('/search'), 'x-forwarded-host': 'elsewhere' }],
    ['a host, where the proxy sends none', { ...forwarded('/search'), ...original('/search'), 'x-original-host': '' }],
    ['a method, where the proxy sends none', { ...forwarded('/search'), ...original('/search'), 'x-original-method': '' }],
  ])('refuses a path of both families if a client adds %s', async (_name, headers) => {
    const { url } = await local(POLICY)
    const answer = await send(url, '/v1/auth', headers)
    expect([answer.status, answer.body]).toEqual([400, expect.stringContaining('two different requests')])
  })

  it('takes a path of both families if an absent method or host is that of the call, and another host alone', async () => {
    const { url } = await local(POLICY)
    const same = { ...original('/search'), 'x-forwarded-uri': '/search', host: 'api.example' }
    expect((await send(url, '/v1/auth', same, 'POST')).status).toBe(200)
    expect((await send(url, '/v1/auth', same, 'POST')).status).toBe(429)
    const balanced = { ...original('/tenant?tenant=a', 'GET'), 'x-forwarded-host': 'balancer.example' }
    expect([(await send(url, '/v1/auth', balanced)).status, (await send(url, '/v1/auth', balanced)).status]).toEqual([200, 429])
  })

  it('needs the request that it is about', async () => {
    const answer = await send((await local(POLICY)).url, '/v1/auth', { 'x-forwarded-for': '203.0.113.1' })
    expect([answer.status, answer.body]).toEqual([400, expect.stringContaining('X-Forwarded-Uri')])
  })
})

describe('U12: what proxies that these tests do not run send by their documentation', () => {
  const both = { 'x-user': 'ada', 'user-agent': 'Mozilla/5.0' }
  const users = POLICY.replace(
    'rules:',
    'rules:\n  - { name: user, match: { path: /orders }, key: ["header:x-user"], rate: 1/h, burst: 1 }',
  )

  it.each<[string, string, string, Record<string, string>]>([
    [
      'Traefik, forwardAuth',
      'GET',
      '/v1/auth',
      {
        'x-forwarded-method': 'POST',
        'x-forwarded-proto': 'https',
        'x-forwarded-host': 'shop.example',
        'x-forwarded-uri': '/orders?page=1',
        'x-forwarded-for': '203.0.113.1',
      },
    ],
    [
      'Envoy, ext_authz over HTTP',
      'POST',
      '/v1/auth/orders?page=1',
      { host: 'shop.example', 'content-length': '0', 'x-forwarded-for': '198.51.100.9, 203.0.113.1', 'x-envoy-internal': 'false' },
    ],
    [
      'Envoy, ext_authz over HTTP to /v1/decision',
      'POST',
      '/v1/decision/orders?page=1',
      { host: 'shop.example', 'content-length': '0', 'x-forwarded-for': '203.0.113.1', 'x-envoy-expected-rq-timeout-ms': '500' },
    ],
  ])('%s', async (_name, method, path, headers) => {
    const { url } = await local(users)
    const passed = await send(url, path, { ...both, ...headers }, method)
    expect([passed.status, passed.body, passed.headers['ratelimit']]).toEqual([200, '', expect.stringContaining('"user";r=0')])
    const denied = await send(url, path, { ...both, ...headers }, method)
    expect([denied.status, Number(denied.headers['retry-after']) >= 3_600]).toEqual([429, true])
    expect((await send(url, path, { ...headers, 'x-user': 'grace' }, method)).status).toBe(200)
  })
})

describe('/v1/decision', () => {
  it('takes X-Original-* from everybody, and the client’s address from nobody', async () => {
    const { url } = await local(UNTRUSTING)
    expect((await send(url, '/v1/decision', original('/search', 'POST', '203.0.113.1'), 'POST')).status).toBe(200)
    expect((await send(url, '/v1/decision', original('/search', 'POST', '203.0.113.2'), 'POST')).status).toBe(429)
  })

  it('is about the call itself where nothing else is said', async () => {
    const { url } = await local('version: 1\nrules:\n  - { name: own, match: { path: /v1/decision }, key: [], rate: 1/h, burst: 1 }\n')
    expect((await send(url, '/v1/decision', {}, 'POST')).status).toBe(200)
    expect((await send(url, '/v1/decision', {}, 'POST')).status).toBe(429)
  })
})
