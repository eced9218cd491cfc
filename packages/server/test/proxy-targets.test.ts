import { describe, expect, it } from 'vitest'
import { local } from './in-process.ts'
import { exchange, statusOf } from './raw.ts'

const RULE = 'key: [], rate: 1/h, burst: 2'
const policyOf = (match: string): string => `version: 1\ntrustedProxies: [loopback]\nrules:\n  - { name: one, ${match}${RULE} }\n`
const EVERY = policyOf('')
const API = policyOf("match: { path: '/api/**' }, ")
const exactly = (path: string): string =>
  JSON.stringify({
    trustedProxies: ['loopback'],
    selector: { pathExact: path },
    rules: [{ name: 'one', limit_keys: [], algorithm: 'token_bucket', algorithm_config: { rps: 0.001, burst: 2 } }],
  })
const ESCAPES = [
  '/search/../../../livez',
  '/search/../../../readyz',
  '/search/%2e%2e/%2E%2e/%2e%2e/livez',
  '/search\\..\\..\\..\\livez',
  '/../../livez',
  '/../../metrics',
  '/../../v1/overview',
  '/../..',
  '/..',
  '/../auth/',
  '/../auth',
  '/../decision',
  '/../decision/x',
  '/../keys/a',
  '/../../v1/policy',
  '/.././../nothing',
  '//../../../livez',
  '\\..\\..\\livez',
]

/** Four statuses: a rule of two requests that applies gives 200, 200, 429, 429. */
async function statuses(policy: string, target: string, header?: string, method = 'POST'): Promise<number[]> {
  const { url } = await local(policy)
  const lines = header === undefined ? '' : `X-Original-URI: ${header}\r\n`
  const all: number[] = []
  for (let sent = 0; sent < 4; sent += 1) {
    const answer = await exchange(url, `${method} ${target} HTTP/1.1\r\nHost: a.example\r\n${lines}Connection: close\r\n\r\n`)
    all.push(Number(/^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1]))
  }
  return all
}

const LIMITED = [200, 200, 429, 429]
const FREE = [200, 200, 200, 200]
const MISSING = [404, 404, 404, 404]

describe.each(['/v1/auth', '/v1/decision'])('a path that a proxy appends to %s', (prefix) => {
  it.each(ESCAPES)('reaches no other endpoint by %s', async (path) => {
    expect(await statuses(EVERY, prefix + path)).toEqual(LIMITED)
    expect(await statuses(EVERY, `${prefix}${path}?a=1`, undefined, 'GET')).toEqual(LIMITED)
    expect(await statuses(EVERY, `http://a.example${prefix}${path}`)).toEqual(LIMITED)
  })

  it.each<[string, string, number[]]>([
    ['/', EVERY, LIMITED],
    ['/?a=1', EVERY, LIMITED],
    ['//', EVERY, LIMITED],
    ['/.', EVERY, LIMITED],
    ['/', exactly('/'), LIMITED],
    ['/?a=1', exactly('/'), LIMITED],
    ['/x', exactly('/'), FREE],
    ['/login/', exactly('/login/'), LIMITED],
    ['/login', exactly('/login/'), FREE],
    ['/login', exactly('/login'), LIMITED],
    ['/login/', exactly('/login'), FREE],
    ['/api/x/../../y', API, LIMITED],
    ['/api/%2e%2e/y', API, LIMITED],
    ['/y/../api/x', API, LIMITED],
    ['/y/%2E%2E/api/x', API, LIMITED],
    ['/../api/x', API, LIMITED],
    ['/api\\..\\y', API, LIMITED],
    ['//h/api/x', API, LIMITED],
    ['/\\h\\api/x', API, LIMITED],
    ['///h/api/x', API, LIMITED],
    ['/api%2Fx', API, LIMITED],
    ['/api%5Cx', API, LIMITED],
    ['/api;a/x', API, LIMITED],
    ['/y/..;/api/x', API, LIMITED],
    ['/%2561pi/x', API, LIMITED],
    ['/API//x/', API, LIMITED],
    ['/y', API, FREE],
    ['/y?x=/api/x', API, FREE],
    ['/api/x#y', API, [400, 400, 400, 400]],
    ['/y#/../../../livez', API, [400, 400, 400, 400]],
  ])('has the readings of a path in a header: %s', async (path, policy, expected) => {
    expect(await statuses(policy, prefix, path)).toEqual(expected)
    expect(await statuses(policy, prefix + path)).toEqual(expected)
  })

  it.each(['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'])('is limited with %s', async (method) => {
    expect(await statuses(EVERY, `${prefix}/search/../../../livez`, undefined, method)).toEqual(LIMITED)
    expect(await statuses(EVERY, `${prefix}/`, undefined, method)).toEqual(LIMITED)
  })

  it('keeps its own query', async () => {
    const { url } = await local(EVERY.replace('key: []', 'key: ["query:user"]'))
    const all: number[] = []
    for (const user of ['a', 'a', 'a', 'b']) all.push(await statusOf(url, 'GET', `${prefix}/x/../../../livez?user=${user}`))
    expect(all).toEqual([200, 200, 429, 200])
  })

  it.each(['//v1/auth', '/v1//auth', '/v1/./auth', '/x/../v1/auth', '/v1/%61uth', '/v1\\auth', 'http://a.example//v1/auth'])(
    'is refused after another spelling of the prefix: %s',
    async (spelling) => {
      const spelt = spelling.replace(/auth|%61uth/, (name) => (prefix === '/v1/auth' ? name : name === 'auth' ? 'decision' : '%64ecision'))
      expect(await statuses(EVERY, `${spelt}/search`)).toEqual(MISSING)
    },
  )

  it.each([
    'x',
    'x/../../../livez',
    '%2fsearch',
    '%2Fx/../../livez',
    '%5cx/../../../livez',
    ';a/../../livez',
    '.',
    '..',
    '../../livez',
    '*',
  ])('is refused without a slash: %s', async (path) => {
    expect(await statuses(EVERY, prefix + path)).toEqual(MISSING)
  })

  it('is refused after an encoded slash within the prefix', async () => {
    expect(await statuses(EVERY, `${prefix.replace('1/', '1%2F')}/search`)).toEqual(MISSING)
  })
})

describe('the query of a call to /v1/auth', () => {
  it('chooses the status of denials only where the proxy wrote it', async () => {
    expect(await statuses(EVERY, '/v1/auth/search?denied=403')).toEqual(LIMITED)
    expect(await statuses(EVERY, '/v1/auth/?denied=403')).toEqual(LIMITED)
    expect(await statuses(EVERY, '/v1/auth?denied=403', '/search')).toEqual([200, 200, 403, 403])
    expect(await statuses(EVERY, '/v1/auth/?denied=403', '/search')).toEqual([200, 200, 403, 403])
  })
})

describe('a path in a header', () => {
  it.each(['/v1/auth', '/v1/auth/', '/v1/auth?x', '/v1/auth/?x', '//v1/auth', '/v1/./auth', 'http://a.example/v1/auth'])(
    'is read by %s',
    async (target) => {
      expect(await statuses(API, target, '/api/x')).toEqual(LIMITED)
      expect(await statuses(API, target, '/y')).toEqual(FREE)
    },
  )
})
