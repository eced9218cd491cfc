import { request as httpRequest } from 'node:http'
import { describe, expect, it } from 'vitest'
import { serviceKeys } from '../src/commands/keys/service-keys.ts'
import { ADMIN, local, TOKEN } from './in-process.ts'
import { policyFiles } from './policy-file.ts'
import { exchange } from './raw.ts'

const tokenFile = policyFiles()
const POLICY = `version: 1
rules:
  - { name: user, key: ["header:x-user"], rate: 1/h, burst: 3 }
  - { name: net, key: ["ip:address"], rate: 1/h, burst: 3 }
  - { name: all, key: [], rate: 1/h, burst: 900 }
`
const CLOSE = 'Connection: close\r\n'
const post = (path: string, body: Buffer, headers = CLOSE, method = 'POST'): Buffer =>
  Buffer.concat([Buffer.from(`${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${headers}Content-Length: ${body.length}\r\n\r\n`), body])
const statuses = (text: string): number[] => [...text.matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map(([, status]) => Number(status))
const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1')

/** What fetch would normalise is sent as it is written. */
function call(url: string, method: string, target: string, body?: string): Promise<[number, unknown]> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const request = httpRequest({ hostname, port, method, path: target, headers: ADMIN, agent: false }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
      response.on('end', () => resolve([response.statusCode ?? 0, JSON.parse(text)]))
    })
    request.on('error', reject).end(body)
  })
}

describe('S3: bytes that are no UTF-8 are no JSON and no policy', () => {
  it.each(['\xff', '\xfe', '\xfd', '\xc0\x80', '\xed\xa0\x80', '\xe2\x82', '\xf5\x80\x80\x80'])(
    'refuses the key %j and charges nothing',
    async (key) => {
      const { url } = await local(POLICY)
      const requestBody = `{"key":"${key}","limit":"user"}`
      for (const [path, text] of [
        ['/v1/check', requestBody],
        ['/v1/checks', `[{"key":"a","limit":"all"},${requestBody}]`],
      ] as const) {
        const answer = await exchange(url, post(path, latin1(text)))
        expect(statuses(answer)).toEqual([400])
        expect(answer).toMatch(/The body is not UTF-8: byte 0x[\da-f]{2} at offset \d+/)
      }
      const metrics = await (await fetch(`${url}/metrics`)).text()
      expect(metrics).toContain('sluice_keys{store="memory"} 0\n')
    },
  )

  it('refuses a duration and an override as well', async () => {
    const { url } = await local(POLICY)
    const admin = `Authorization: ${ADMIN.authorization}\r\n${CLOSE}`
    expect(statuses(await exchange(url, post('/v1/keys/a/block', latin1('{"duration":"1m\xff"}'), admin, 'PUT')))).toEqual([400])
    expect(statuses(await exchange(url, post('/v1/keys/a/override', latin1('{"rule":"user\xff"}'), admin, 'PUT')))).toEqual([400])
  })

  it('refuses a policy that is put, with the place', async () => {
    const { url, policy } = await local(POLICY)
    const admin = `Authorization: ${ADMIN.authorization}\r\n${CLOSE}`
    const answer = await exchange(url, post('/v1/policy', latin1(`${POLICY}  - { name: \xfc }\n`), admin, 'PUT'))
    expect(statuses(answer)).toEqual([400])
    expect(answer).toContain('policy.yaml:6:13: byte 0xfc is not UTF-8')
    expect(policy.rejected).toBe(1)
  })

  it('takes what is UTF-8', async () => {
    const { url, post: send } = await local(POLICY)
    for (const key of ['é', '€', '😀', '\ufffd']) expect((await send('/v1/check', { key, limit: 'user' })).status).toBe(200)
    expect(await (await fetch(`${url}/metrics`)).text()).toContain('sluice_keys{store="memory"} 4\n')
  })
})

describe('a body that is too large', () => {
  it.each([
    ['/v1/check', 'POST', 65_536],
    ['/v1/checks', 'POST', 1_048_576],
    ['/v1/policy', 'PUT', 1_048_576],
    ['/v1/keys/a/block', 'PUT', 4_096],
    ['/v1/keys/a/override', 'PUT', 16_384],
  ])('is 413 at %s, and the connection lives on', async (path, method, largest) => {
    const { url } = await local(POLICY)
    const admin = `Authorization: ${ADMIN.authorization}\r\n`
    const after = `GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\n${CLOSE}\r\n`
    const answer = await exchange(url, Buffer.concat([post(path, Buffer.alloc(largest + 1, 0x20), admin, method), Buffer.from(after)]))
    expect(statuses(answer)).toEqual([413, 200])
    expect(answer).toContain(`larger than ${largest} bytes`)
  })
})

describe('a body that is encoded', () => {
  it.each(['gzip', 'br', 'GZIP', 'identity, gzip', 'x-unknown'])('is 415 for %s, and says what is taken', async (encoding) => {
    const { url } = await local(POLICY)
    const body = Buffer.from('{"key":"a","limit":"user"}')
    const answer = await exchange(url, post('/v1/check', body, `Content-Encoding: ${encoding}\r\n${CLOSE}`))
    expect(statuses(answer)).toEqual([415])
    expect(answer).toMatch(/^Accept-Encoding: identity\r$/m)
  })

  it('is taken where it says that it is not', async () => {
    const { url } = await local(POLICY)
    const body = Buffer.from('{"key":"a","limit":"user"}')
    expect(statuses(await exchange(url, post('/v1/check', body, `Content-Encoding: Identity\r\n${CLOSE}`)))).toEqual([200])
  })
})

describe('a parameter that is not there', () => {
  it.each([
    ['POST', '/v1/check?stauts=http', { key: 'a', limit: 'user' }, /"stauts".*allowed are status/],
    ['POST', '/v1/check?status=htpp', { key: 'a', limit: 'user' }, /status is "htpp".*expected http/],
    ['POST', '/v1/check?status=http&status=200', { key: 'a', limit: 'user' }, /"status".*twice/],
    ['POST', '/v1/checks?status=http', [{ key: 'a', limit: 'user' }], /"status".*it has none/],
    ['POST', '/v1/reserve?status=429', { key: 'a', limit: 'user' }, /status is "429"/],
    ['POST', '/v1/cancel?limit=user', { key: 'a', id: 'x' }, /"limit".*it has none/],
    ['PUT', '/v1/keys/a/block?rule=user', { duration: '1h' }, /"rule".*allowed are limit, key/],
    ['DELETE', '/v1/keys/a?limt=user', undefined, /"limt"/],
    ['DELETE', '/v1/keys/a?limit=user&limit=net', undefined, /"limit".*twice/],
    ['GET', '/v1/keys?topp=5', undefined, /"topp".*allowed are top/],
    ['PUT', '/v1/policy?dryRun=true', 'version: 1', /"dryRun".*it has none/],
  ])('is refused, and nothing is done: %s %s', async (method, path, body, detail) => {
    const { url, engine } = await local(POLICY)
    const [first] = await engine.inspectKey({ key: 'a' })
    const [status, problem] = await call(url, method, path, body === undefined ? undefined : JSON.stringify(body))
    expect([status, problem]).toEqual([400, expect.objectContaining({ detail: expect.stringMatching(detail) })])
    expect(await engine.inspectKey({ key: 'a' })).toEqual(expect.arrayContaining([first]))
  })
})

describe('a rule that is not there', () => {
  it.each([
    ['POST', '/v1/check', { key: 'a', limit: 'none' }],
    [
      'POST',
      '/v1/checks',
      [
        { key: 'a', limit: 'user' },
        { key: 'a', limit: 'none' },
      ],
    ],
    ['GET', '/v1/keys/a?limit=none', undefined],
    ['DELETE', '/v1/keys/a?limit=none', undefined],
    ['PUT', '/v1/keys/a/block?limit=none', { duration: '1m' }],
    ['DELETE', '/v1/keys/a/block?limit=none', undefined],
    ['PUT', '/v1/keys/a/override?limit=none', { rate: '1/h', burst: 1 }],
    ['PUT', '/v1/keys/a/override', { rule: 'none', rate: '1/h', burst: 1 }],
    ['DELETE', '/v1/keys/a/override?limit=none', undefined],
  ])('is 404 for %s %s', async (method, path, body) => {
    const { url } = await local(POLICY)
    const [status, problem] = await call(url, method, path, body === undefined ? undefined : JSON.stringify(body))
    expect([status, problem]).toEqual([404, expect.objectContaining({ status: 404, detail: expect.stringMatching(/"none".*expected/) })])
    if (path === '/v1/checks') expect(problem).toMatchObject({ index: 1 })
  })

  it('is 400 where other fields of an override are wrong as well', async () => {
    const { url } = await local(POLICY)
    expect(await call(url, 'PUT', '/v1/keys/a/override', '{"rule":"none","rate":"x"}')).toMatchObject([400, {}])
  })
})

describe('an ip that is not an address', () => {
  it.each(['somewhere', '1.2.3', '256.0.0.1', '203.0.113.9:80', '203.0.113.9, 10.0.0.1', ' ::1', '01.2.3.4', 'localhost'])(
    'is 400, and is not shown: %s',
    async (ip) => {
      const { url } = await local(POLICY)
      for (const [path, body] of [
        ['/v1/check', { path: '/', ip }],
        ['/v1/checks', [{ path: '/', ip }]],
      ] as const) {
        const [status, problem] = await call(url, 'POST', path, JSON.stringify(body))
        expect([status, problem]).toEqual([400, expect.objectContaining({ detail: expect.stringContaining('field ip is not an address') })])
        expect((problem as { detail: string }).detail).not.toContain(ip)
      }
    },
  )

  it.each(['203.0.113.9', '2001:db8::1', '::ffff:10.0.0.1', 'fe80::1%eth0'])('is taken where it is one: %s', async (ip) => {
    const { post: send } = await local(POLICY)
    expect((await send('/v1/check', { path: '/', ip })).status).toBe(200)
  })
})

describe('the keys . and ..', () => {
  it.each([
    ['.', '/v1/keys/%2E'],
    ['.', '/v1/keys/%2e'],
    ['..', '/v1/keys/%2E%2e'],
    ['.', '/v1/keys/-', 'key=.'],
    ['..', '/v1/keys/-', 'key=..'],
    ['..', '/v1/keys/-', 'key=%2E%2E'],
  ])('are administered: %s at %s', async (key, path, query = '') => {
    const { url, post: send } = await local(POLICY)
    const at = (below = ''): string => `${path}${below}?limit=user${query === '' ? '' : `&${query}`}`
    for (let sent = 0; sent < 3; sent += 1) await send('/v1/check', { key, limit: 'user' })
    expect(await call(url, 'GET', at())).toMatchObject([200, { states: [{ name: 'user', remaining: 0 }] }])
    expect(await call(url, 'DELETE', at())).toEqual([200, { reset: true }])
    expect(await (await send('/v1/check', { key, limit: 'user' })).json()).toMatchObject({ limits: [{ remaining: 2 }] })
    expect(await call(url, 'PUT', at('/block'), '{"duration":"1m"}')).toEqual([200, { blocked: true }])
    expect(await (await send('/v1/check', { key, limit: 'user' })).json()).toMatchObject({ reason: 'blocked' })
    expect(await call(url, 'DELETE', at('/block'))).toEqual([200, { blocked: false }])
    expect(await call(url, 'PUT', at('/override'), '{"rate":"1/h","burst":9}')).toMatchObject([200, { overrides: [{ key: [key] }] }])
    expect(await call(url, 'GET', at('/nothing'))).toMatchObject([404, {}])
    expect(await call(url, 'POST', at())).toMatchObject([405, {}])
  })

  it.each(['.', '..', '-', '%2E'])('are meant by the commands that call a service: %s', async (key) => {
    const { url, post: send } = await local(POLICY)
    const holder = serviceKeys(url, tokenFile(`${TOKEN}\n`), '--url')
    for (let sent = 0; sent < 2; sent += 1) await send('/v1/check', { key, limit: 'user' })
    expect(await holder.inspect({ key, limit: 'user' })).toMatchObject([{ remaining: 1 }])
    await holder.block({ key, limit: 'user' }, 60_000)
    expect(await (await send('/v1/check', { key, limit: 'user' })).json()).toMatchObject({ reason: 'blocked' })
    await holder.block({ key, limit: 'user' }, null)
    await holder.reset({ key, limit: 'user' })
    expect(await holder.inspect({ key, limit: 'user' })).toMatchObject([{ remaining: 3 }])
  })

  it('are no way around what guards the others', async () => {
    const { url } = await local(POLICY, { token: undefined })
    for (const path of ['/v1/keys/%2E', '/v1/keys/%2E%2E/block', '/v1/keys/-?key=.'])
      expect(await call(url, 'DELETE', path)).toMatchObject([403, {}])
  })

  it('are meant by ?key= next to the segment - alone, and as UTF-8', async () => {
    const { url } = await local(POLICY)
    expect(await call(url, 'GET', '/v1/keys/a?key=b')).toMatchObject([400, { detail: expect.stringContaining('/v1/keys/-?key=') }])
    expect(await call(url, 'GET', '/v1/keys/-?key=%ff')).toMatchObject([400, {}])
    expect(await call(url, 'GET', '/v1/keys/-?key=')).toMatchObject([400, {}])
    expect(await call(url, 'GET', '/v1/keys/-')).toMatchObject([200, {}])
    expect(await call(url, 'GET', '/v1/keys/-?key=%EF%BF%BD')).toMatchObject([200, {}])
  })
})

describe('S3: a refusal says what is wrong and where', () => {
  it.each([
    ['5', "duration: 5 has no unit: write '5s' for seconds or '5ms' for milliseconds"],
    ['"-5s"', /^duration: "-5s" is not a duration: expected /],
    ['"200000d"', /^duration: "200000d" is not a duration: .* at most a hundred years$/],
    ['-1', /^duration: -1 is not a duration: expected /],
  ])('names the field of a block of %s', async (duration, detail) => {
    const { url } = await local(POLICY)
    const [status, body] = await call(url, 'PUT', '/v1/keys/a/block', `{"duration":${duration}}`)
    expect([status, body]).toEqual([400, expect.objectContaining({ title: 'Bad Request', detail: expect.stringMatching(detail) })])
  })

  it.each(['foo', '200-ok'])('answers 417 with a problem body to Expect: %s, and goes on with the connection', async (expected) => {
    const { url } = await local(POLICY)
    const requestBody = post('/v1/check', Buffer.from('{"key":"a","limit":"all"}'), `Expect: ${expected}\r\n`)
    const answer = await exchange(url, Buffer.concat([requestBody, post('/v1/check', Buffer.from('{"key":"a","limit":"all"}'))]))
    expect(statuses(answer)).toEqual([417, 200])
    const body = /\r\n\r\n(\{"type":"about:blank".*\})\n/.exec(answer)?.[1] ?? '{}'
    expect(answer).toContain('Content-Type: application/problem+json')
    expect(JSON.parse(body)).toEqual({
      type: 'about:blank',
      title: 'Expectation Failed',
      status: 417,
      detail: `Expect is "${expected}"; expected 100-continue, or no such header.`,
    })
  })

  it('charges nothing where an expectation failed', async () => {
    const { url } = await local(POLICY)
    const metrics = async (): Promise<string> => (await fetch(`${url}/metrics`)).text()
    await exchange(url, post('/v1/check', Buffer.from('{"key":"a","limit":"all"}'), `Expect: foo\r\n${CLOSE}`))
    expect(await metrics()).toContain('sluice_keys{store="memory"} 0\n')
  })
})
