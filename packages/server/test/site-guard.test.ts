import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hostsAllowed, readHosts } from '../src/http/site-guard.ts'
import { run, type Running, serve } from './command.ts'
import { policyFiles } from './policy-file.ts'
import { exchange } from './raw.ts'

const policyFile = policyFiles()
const POLICY = 'version: 1\ntrustedProxies: [loopback]\nrules:\n  - { name: all, key: [], rate: 1/h, burst: 1000 }\n'
const QUESTION = '{"key":"a","limit":"all"}'

async function status(url: string, method: string, path: string, headers: Record<string, string>, body = ''): Promise<number> {
  const lines = Object.entries({ Host: new URL(url).host, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
  const answer = await exchange(
    url,
    `${method} ${path} HTTP/1.1\r\n${lines.join('')}Connection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  )
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1])
}

describe('S4: a service on loopback', () => {
  let service: Running
  let origin: string
  beforeAll(async () => {
    service = await serve([policyFile(POLICY), '--demo', '--allowed-host', 'Limits.Example.'])
    origin = service.url
  })
  afterAll(() => service.stop())
  const charged = async (): Promise<number> => {
    const text = await (await fetch(`${service.url}/metrics`)).text()
    return Number(/^sluice_requests_total\{rule="all",route="",result="allowed"\} (\d+)$/m.exec(text)?.[1] ?? 0)
  }

  it.each<[string, Record<string, string>]>([
    ['a form of another site', { Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site', 'Content-Type': 'text/plain' }],
    ['a page of another port of this machine', { Origin: 'http://127.0.0.1:1', 'Sec-Fetch-Site': 'same-site' }],
    ['a browser that sends Origin alone', { Origin: 'https://evil.example' }],
    ['a page without an origin of its own', { Origin: 'null' }],
    ['an image or a script of another site', { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'no-cors', 'Sec-Fetch-Dest': 'image' }],
    ['a header that is there twice', { 'Sec-Fetch-Site': 'same-origin, cross-site' }],
    ['an extension', { Origin: 'chrome-extension://abcdef' }],
  ])('answers 403 to %s, and charges nothing', async (_what, headers) => {
    const before = await charged()
    expect(await status(service.url, 'POST', '/v1/check', headers, QUESTION)).toBe(403)
    expect(await status(service.url, 'POST', '/v1/checks', headers, `[${QUESTION}]`)).toBe(403)
    for (const path of [
      '/api/data',
      '/',
      '/v1/overview',
      '/v1/events',
      '/metrics',
      '/v1/policy',
      '//v1//overview',
      '/v1/decision',
      '/v1/auth/x',
      '/V1/decision/a/%2e',
      '/v1/decision/x/../../../livez',
      '/v1/auth/../../readyz',
    ])
      expect([path, await status(service.url, 'GET', path, headers)]).toEqual([path, 403])
    expect(await charged()).toBe(before)
    for (const path of ['/livez', '/readyz']) expect(await status(service.url, 'GET', path, headers)).toBe(200)
  })

  it.each([
    'evil.example',
    'evil.example:80',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    '10.0.0.1',
    '0.0.0.0:80',
    '[2001:db8::1]',
    '[::]',
    'x@localhost',
    'limits.example.evil',
    '2130706433',
    '',
  ])('answers 403 to the foreign host %j: its page may be one whose name was pointed here', async (host) => {
    const headers = { Host: host, 'Sec-Fetch-Site': 'same-origin' }
    for (const path of ['/', '/v1/overview', '/v1/events', '/metrics', '/api/data', '/page.js', '/v1/keys/a'])
      expect([path, await status(service.url, 'GET', path, headers)]).toEqual([path, 403])
    expect(await status(service.url, 'POST', '/v1/check', { Host: host }, QUESTION)).toBe(403)
    for (const path of ['/livez', '/readyz']) expect(await status(service.url, 'GET', path, headers)).toBe(200)
    // There the host is the site's.
    expect(await status(service.url, 'GET', '/v1/auth', { ...headers, 'X-Forwarded-Uri': '/x' })).toBe(200)
    expect(await status(service.url, 'GET', '/v1/decision/x', { ...headers, 'X-Original-Method': 'GET' })).toBe(200)
  })

  it.each([
    ['without a word', {}],
    ['as a page of another site', { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'no-cors' }],
    ['as a page of its own name', { 'Sec-Fetch-Site': 'same-origin', 'Sec-Fetch-Mode': 'cors' }],
    ['as a form', { Origin: 'https://evil.example', 'Content-Type': 'text/plain' }],
    ['as a preflight request', { Origin: 'https://evil.example', 'Access-Control-Request-Headers': 'x-original-uri' }],
  ])('charges no key for a foreign name that leads here and calls the endpoints of proxies, %s', async (_how, headers) => {
    const before = await charged()
    const host = `127.0.0.1.nip.io:${new URL(service.url).port}`
    for (const path of [
      '/v1/decision/q/x?k=victim&w=3',
      '/v1/decision',
      '/v1/decision/',
      '/v1/decision/x/../../../livez',
      '/v1/decision/%2e%2e/%2e%2e/readyz',
      '/v1/decision/../..',
      '/v1/auth/api/x',
      '/v1/auth/x/../../../livez',
      '/V1//auth/x',
    ])
      for (const method of ['GET', 'POST', 'OPTIONS'])
        expect([method, path, await status(service.url, method, path, { Host: host, ...headers })]).toEqual([method, path, 403])
    expect(await charged()).toBe(before)
  })

  it.each([
    'localhost',
    'LOCALHOST:1',
    'localhost.',
    'app.localhost:80',
    '127.0.0.1',
    '127.1.2.3:99999',
    '[::1]:8080',
    '[0:0::1]',
    '[::ffff:127.0.0.1]',
    'limits.example',
    'LIMITS.example.:443',
  ])('answers the host %s', async (host) => {
    expect(await status(service.url, 'GET', '/v1/overview', { Host: host })).toBe(200)
    expect(await status(service.url, 'POST', '/v1/check', { Host: host, Origin: `http://${host}` }, QUESTION)).toBe(200)
  })

  it('answers its own page, links to it, programs, and curl -d as documented', async () => {
    const own = { 'Sec-Fetch-Site': 'same-origin', 'Sec-Fetch-Mode': 'cors' }
    for (const path of ['/v1/overview', '/api/data', '/page.js', '/metrics']) expect(await status(service.url, 'GET', path, own)).toBe(200)
    expect(await status(service.url, 'GET', '/', { 'Sec-Fetch-Site': 'none', 'Sec-Fetch-Mode': 'navigate' })).toBe(200)
    const link = { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'document' }
    expect(await status(service.url, 'GET', '/', link)).toBe(200)
    expect(await status(service.url, 'GET', '/api/data', link)).toBe(403)
    expect(await status(service.url, 'GET', '/', { ...link, 'Sec-Fetch-Dest': 'iframe' })).toBe(403)
    const before = await charged()
    expect(await status(service.url, 'GET', '/v1/decision/../..', link)).toBe(403)
    expect(await charged()).toBe(before)
    expect(await status(service.url, 'POST', '/v1/check', { Origin: origin }, QUESTION)).toBe(200)
    expect(await status(service.url, 'POST', '/v1/check', { 'Content-Type': 'application/x-www-form-urlencoded' }, QUESTION)).toBe(200)
    expect(await exchange(service.url, 'GET /v1/overview HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 /)
    expect(await exchange(service.url, 'GET /v1/overview HTTP/1.0\r\nOrigin: null\r\n\r\n')).toMatch(/^HTTP\/1\.1 403 /)
  })

  it('answers proxies whose clients come from other sites', async () => {
    const client = { Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' }
    expect(await status(service.url, 'GET', '/v1/auth', { ...client, 'X-Forwarded-Uri': '/x' })).toBe(200)
    expect(await status(service.url, 'POST', '/v1/decision', { ...client, 'X-Original-URI': '/x' })).toBe(200)
  })

  // The headers that each proxy of docs/service.md adds to what the client sent to the site. Envoy's are those of ext_authz over HTTP.
  it.each<[string, string, Record<string, string>]>([
    ['Traefik', '/v1/auth', { 'X-Forwarded-Method': 'GET', 'X-Forwarded-Uri': '/x', 'X-Forwarded-For': '198.51.100.7' }],
    ['Caddy', '/v1/auth?denied=429', { 'X-Forwarded-Method': 'GET', 'X-Forwarded-Uri': '/x', 'X-Forwarded-For': '198.51.100.7' }],
    ['nginx', '/v1/auth?denied=403', { 'X-Original-Method': 'GET', 'X-Original-URI': '/x', 'X-Forwarded-For': '198.51.100.7' }],
    ['HAProxy', '/v1/auth', { 'x-original-method': 'GET', 'x-original-uri': '/x', 'x-forwarded-for': '198.51.100.7' }],
    ['Envoy', '/v1/auth/x', { 'x-forwarded-for': '198.51.100.7', 'x-envoy-internal': 'true' }],
    ['Envoy for the root', '/v1/auth/', { 'x-forwarded-for': '198.51.100.7', 'x-envoy-internal': 'true' }],
    ['Envoy for a path with dots', '/v1/auth/x/../../../metrics', { 'x-forwarded-for': '198.51.100.7', 'x-envoy-internal': 'true' }],
    ['Envoy that leaves X-Forwarded-For alone', '/v1/decision/x', { 'x-envoy-expected-rq-timeout-ms': '200' }],
  ])('answers %s for a page of another site, with the host of its own site', async (_proxy, path, expected) => {
    const client = { Host: 'site.example', Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'no-cors' }
    for (const method of ['GET', 'POST']) expect(await status(service.url, method, path, { ...client, ...expected })).toBe(200)
  })
})

describe('S4: a service on another address', () => {
  it('takes any host, unless some are listed, and still refuses other sites', async () => {
    const token = policyFile('a-token-of-administration')
    const open = await serve([policyFile(POLICY), '--listen', '0.0.0.0:0', '--admin-token-file', token])
    const listed = await serve([
      policyFile(POLICY),
      '--listen',
      '0.0.0.0:0',
      '--admin-token-file',
      token,
      '--allowed-host',
      '[2001:DB8:0::1]',
    ])
    try {
      const at = (url: string): string => url.replace('0.0.0.0', '127.0.0.1')
      expect(await status(at(open.url), 'GET', '/v1/overview', { Host: 'any.example' })).toBe(200)
      expect(await status(at(open.url), 'GET', '/v1/overview', { Host: 'any.example', 'Sec-Fetch-Site': 'cross-site' })).toBe(403)
      // A program that calls under any host name is answered. A page of another site is refused, unless a proxy forwarded its request.
      for (const path of ['/v1/decision/x', '/v1/auth/x']) {
        expect([path, await status(at(open.url), 'GET', path, { Host: 'any.example' })]).toEqual([path, 200])
        for (const foreign of [{ 'Sec-Fetch-Site': 'cross-site' }, { 'Sec-Fetch-Site': 'same-site' }, { Origin: 'https://evil.example' }]) {
          const headers = { Host: 'any.example', ...foreign }
          expect([path, await status(at(open.url), 'POST', path, headers)]).toEqual([path, 403])
          expect([path, await status(at(open.url), 'POST', path, { ...headers, 'X-Forwarded-For': '198.51.100.7' })]).toEqual([path, 200])
        }
      }
      expect(await status(at(listed.url), 'GET', '/v1/decision/x', { Host: 'any.example' })).toBe(403)
      expect(await status(at(listed.url), 'GET', '/v1/overview', { Host: 'any.example' })).toBe(403)
      expect(await status(at(listed.url), 'GET', '/v1/overview', { Host: '[2001:db8::1]:80' })).toBe(200)
    } finally {
      await Promise.all([open.stop(), listed.stop()])
    }
  })

  it.each(['a b', 'http://x', 'x:80', '', '*', '.x', 'ü ü', '[x]'])('refuses --allowed-host %j', async (name) => {
    const ran = await run(['serve', '--demo', `--allowed-host=${name}`], { PORT: '0' })
    expect([ran.code, ran.stdout]).toEqual([3, ''])
    expect(ran.stderr).toMatch(/^sluice: .*--allowed-host (?:is .*: expected a name or an address|needs a value)[^\n]*\n$/)
  })

  it('knows names in the letters of their people, and forgets hosts that nobody listed', () => {
    const hosts = hostsAllowed(readHosts(['Bücher.example', '10.0.0.7']))
    expect(['xn--bcher-kva.example', 'bücher.example', '10.0.0.7:8', '010.0.0.7'].map(hosts)).toEqual([true, true, true, false])
    for (let sent = 0; sent < 5_000; sent += 1) expect(hosts(`h${sent}.example`)).toBe(false)
    expect(hosts('localhost')).toBe(true)
  })
})
