import { describe, expect, it } from 'vitest'
import { local } from './in-process.ts'
import { exchange } from './raw.ts'

const POLICY = 'version: 1\nrules:\n  - { name: user, key: ["header:x-user"], rate: 1/h, burst: 1000 }\n'
const message = (method: string, path: string, body = '', headers = ''): string =>
  `${method} ${path} HTTP/1.1\r\nHost: a\r\n${headers}${body === '' ? '' : `Content-Length: ${Buffer.byteLength(body)}\r\n`}\r\n${body}`
const good = message('POST', '/v1/check', '{"key":"a","limit":"user"}')
const last = message('GET', '/livez', '', 'Connection: close\r\n')
const statuses = (text: string): number[] => [...text.matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map(([, status]) => Number(status))

describe('the API, called by an attacker', () => {
  it.each([
    ['{"key":"a","cost":-5}', 400],
    ['{"key":"a","cost":NaN}', 400],
    ['{"key":"a","cost":1e309}', 400],
    ['{"key":"a","cost":0x10}', 400],
    ['{"key":"a","cost":"5 "}', 400],
    ['{"key":"a","cost":"5"}', 400],
    ['{"key":"a","cost":null}', 400],
    ['{"key":"a","cost":true}', 400],
    ['{"key":"a","cost":[1]}', 400],
    ['{"key":"a","cost":0}', 400],
    ['{"key":"a","cost":1e-7}', 400],
    ['{"key":"a","cost":9007199254740993}', 400],
    ['{"__proto__":{"key":"a"}}', 400],
    ['{"key":"a","__proto__":{"cost":1}}', 400],
    ['{"constructor":{"prototype":{"key":"a"}}}', 400],
    ['{"path":"/","headers":{"__proto__":"x","constructor":"y","X-User":"a"}}', 200],
    ['{"path":"/","headers":{"__proto__":{"x-user":"a"}}}', 400],
    ['{"key":"a","key":"b"}', 200],
    [`{"key":${'['.repeat(30_000)}${']'.repeat(30_000)}}`, 400],
    ['['.repeat(60_000), 400],
    [`${'{"key":'.repeat(8_000)}1${'}'.repeat(8_000)}`, 400],
    ['{"key":"\\ud800"}', 200],
    ['{"key":"a\\u0000\\n{}*"}', 200],
    ['\ufeff{"key":"a"}', 400],
    ['{"path":"/\\u0000","method":"\\r\\nX: y"}', 200],
    [`{"path":"/${'a/../'.repeat(10_000)}"}`, 200],
    ['null', 400],
    ['7', 400],
  ])('answers %.60s with %i, and the connection lives on', async (body, status) => {
    const { url } = await local(POLICY)
    const answer = await exchange(url, message('POST', '/v1/check', body) + good + last)
    expect(statuses(answer)).toEqual([status, 200, 200])
    if (status === 400) expect(answer).toMatch(/^Content-Type: application\/problem\+json\r$/m)
  })

  it('never adds tokens', async () => {
    const { url, post } = await local(POLICY)
    await post('/v1/check', { key: 'a', limit: 'user', cost: 400 })
    for (const cost of ['-5', '-1e308', '-0', '1e309', '"-5"', '-0.000001'])
      await exchange(url, message('POST', '/v1/check', `{"key":"a","limit":"user","cost":${cost}}`) + last)
    expect(await (await post('/v1/check', { key: 'a', limit: 'user' })).json()).toMatchObject({ limits: [{ remaining: 599 }] })
  })

  it('answers what is piled up on one connection in order', async () => {
    const { url } = await local(POLICY)
    const bad = message('POST', '/v1/check', '{')
    const answer = await exchange(url, good + bad + message('GET', '/nothing') + message('PUT', '/v1/check', 'x') + good.repeat(20) + last)
    expect(statuses(answer)).toEqual([200, 400, 404, 405, ...Array<number>(20).fill(200), 200])
    expect([...answer.matchAll(/"remaining":(\d+)/g)].map(([, left]) => Number(left))).toEqual(
      Array.from({ length: 21 }, (_, i) => 999 - i),
    )
  })

  it.each([
    ['GET', '/v1/check', 405, 'POST'],
    ['HEAD', '/v1/check', 405, 'POST'],
    ['PUT', '/v1/checks', 405, 'POST'],
    ['OPTIONS', '/v1/check', 405, 'POST'],
    ['POST', '/metrics', 405, 'GET, HEAD'],
    ['DELETE', '/', 405, 'GET, HEAD'],
    ['PATCH', '/readyz', 405, 'GET, HEAD'],
    ['PROPFIND', '/livez', 405, 'GET, HEAD'],
    ['HEAD', '/livez', 200, undefined],
    ['HEAD', '/metrics', 200, undefined],
    ['GET', '/v1/check/x', 404, undefined],
    ['GET', '/v1', 404, undefined],
    ['GET', '/__proto__', 404, undefined],
    ['GET', '/v1/checks%00', 404, undefined],
    ['TRACE', '/x', 404, undefined],
  ])('says to %s %s: %i', async (method, path, status, allow) => {
    const { url } = await local(POLICY)
    const answer = await exchange(url, message(method, path) + last)
    expect(statuses(answer)[0]).toBe(status)
    expect(/^Allow: (.*)\r$/m.exec(answer)?.[1]).toBe(allow)
    expect(statuses(answer)).toHaveLength(2)
  })

  it('takes a body in pieces', async () => {
    const { url } = await local(POLICY)
    const chunked = 'POST /v1/check HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\na\r\n{"key":"\u00e9\r\n2\r\n"}\r\n0\r\n\r\n'
    expect(statuses(await exchange(url, chunked + last))).toEqual([200, 200])
  })

  it('bounds the headers of a request, in length and in number', async () => {
    const { url } = await local(POLICY)
    expect(statuses(await exchange(url, message('GET', '/livez', '', `X: ${'x'.repeat(20_000)}\r\n`)))).toEqual([431])
    const many = Array.from({ length: 3_000 }, (_, index) => `x${index}: y\r\n`).join('')
    expect(statuses(await exchange(url, message('GET', '/livez', '', many)))).toEqual([431])
    expect(statuses(await exchange(url, good + last))).toEqual([200, 200])
  })

  it('keeps metrics bounded and free of the keys of requests', async () => {
    const { url, post } = await local(POLICY)
    for (let sent = 0; sent < 300; sent += 1) await post('/v1/check', { path: `/secret-${sent}`, headers: { 'x-user': `secret-${sent}` } })
    const text = await (await fetch(`${url}/metrics`)).text()
    expect(text).not.toContain('secret')
    expect(text.split('\n').length).toBeLessThan(120)
    expect(text).toContain('sluice_requests_total{rule="user",route="",result="allowed"} 300\n')
    expect(text).toContain('sluice_store_duration_seconds_count{store="memory",operation="decide"} 300\n')
    expect(text).toContain('sluice_keys{store="memory"} 300\n')
    expect(text).toContain('sluice_degraded{rule="user"} 0\n')
  })
})
