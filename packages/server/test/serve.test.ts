import { connect, createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { run, type Running, serve } from './command.ts'
import { policyFiles } from './policy-file.ts'

const policyFile = policyFiles()
const json = { 'content-type': 'application/json' }
const post = (url: string, body: unknown, query = ''): Promise<Response> =>
  fetch(`${url}/v1/check${query}`, { method: 'POST', headers: json, body: typeof body === 'string' ? body : JSON.stringify(body) })

describe('serve --demo', () => {
  let service: Running
  beforeAll(async () => {
    service = await serve(['--demo'])
  })
  afterAll(async () => {
    expect(await service.stop()).toBe(0)
  })

  it('shows ten 200s with headers, then 429 with a true Retry-After', async () => {
    const answers: Response[] = []
    const start = performance.now()
    // While a busy machine sends, some comes back.
    do answers.push(await fetch(`${service.url}/api/search`))
    while (answers.at(-1)?.status === 200)
    const passed = answers.length - 1
    expect(passed).toBeGreaterThanOrEqual(10)
    expect(passed).toBeLessThanOrEqual(10 + (performance.now() - start) / 1_000)
    expect(answers[0]?.headers.get('x-ratelimit-limit')).toBe('50')
    expect(answers[0]?.headers.get('x-ratelimit-remaining')).toBe('45')
    const last = answers.at(-1) as Response
    const wait = Number(last.headers.get('retry-after'))
    expect(wait).toBeGreaterThanOrEqual(1)
    expect(await last.json()).toMatchObject({ status: 429, title: 'Quota Exceeded' })
    await new Promise((resolve) => setTimeout(resolve, wait * 1_000))
    expect((await fetch(`${service.url}/api/search`)).status).toBe(200)
  })

  it('decides requests', async () => {
    const facts = { method: 'GET', path: '/api/data', headers: { 'X-Odd': 'a' }, ip: '203.0.113.9' }
    const first = (await (await post(service.url, facts)).json()) as { outcome: string; limits: { remaining: number }[] }
    expect(first.outcome).toBe('allowed')
    expect(first.limits).toHaveLength(3)
    expect(JSON.stringify(first)).not.toContain('203.0.113.9')
    const dear = await post(service.url, { ...facts, cost: 100_000 }, '?status=http')
    expect(dear.status).toBe(429)
    expect(dear.headers.has('retry-after')).toBe(false)
    expect(await dear.json()).toMatchObject({ outcome: 'impossible', reason: 'capacity' })
  })

  it('decides requests of one rule by key', async () => {
    const check = async (cost: number): Promise<unknown> =>
      (await post(service.url, { key: 'k1', limit: 'endpoint:/api/data', cost })).json()
    expect(await check(999)).toMatchObject({ outcome: 'allowed', limits: [{ remaining: 1 }] })
    expect(await check(999)).toMatchObject({ outcome: 'denied', retryAfterMs: expect.any(Number) })
    const unknown = await post(service.url, { key: 'k1', limit: 'nothing' })
    expect([unknown.status, await unknown.text()]).toEqual([404, expect.stringContaining('endpoint:/api/data')])
  })

  it.each([
    ['{"key": ', 'is not JSON'],
    ['', 'it is empty'],
    ['[]', 'must be an object'],
    ['{"key":"a","cost":-5}', 'cost is -5'],
    ['{"key":"a","cost":1e309}', 'cost'],
    ['{"key":"a","cost":"5"}', 'field cost is \\"5\\"'],
    ['{"key":"a","cost":0.0000001}', 'at most six decimals'],
    ['{"key":7}', 'field key is a number'],
    ['{"key":"a","max":1}', 'max'],
    ['{"path":"/","method":"GET","headers":[1]}', 'field headers'],
  ])('refuses %.40s with a problem body', async (body, message) => {
    const answer = await post(service.url, body)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([400, 'application/problem+json'])
    expect(await answer.text()).toContain(message)
  })

  it('keeps the connection after broken and oversized bodies', async () => {
    const { hostname, port } = new URL(service.url)
    const socket = connect(Number(port), hostname)
    let received = ''
    socket.on('data', (data) => (received += data.toString()))
    const send = (body: string): void =>
      void socket.write(`POST /v1/check HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
    for (const body of ['{broken', 'x'.repeat(200_000), '{"path":"/","method":"GET"}']) send(body)
    await expect.poll(() => received.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 400', 'HTTP/1.1 413', 'HTTP/1.1 200'])
    socket.destroy()
  })

  it('closes the connection of a body that never seems to end', async () => {
    const { hostname, port } = new URL(service.url)
    const socket = connect(Number(port), hostname)
    let received = ''
    socket.on('data', (data) => (received += data.toString()))
    socket.on('error', () => {})
    socket.write('POST /v1/check HTTP/1.1\r\nHost: localhost\r\nContent-Length: 30000000\r\n\r\n')
    for (let sent = 0; sent < 17_000_000 && !socket.destroyed; sent += 1_000_000) socket.write('x'.repeat(1_000_000))
    await expect.poll(() => received).toMatch(/^HTTP\/1\.1 413 .*Connection: close/s)
    socket.destroy()
    expect((await post(service.url, { path: '/' })).status).toBe(200)
  })

  it('answers a HEAD of the events with their type, and keeps no place for it', async () => {
    const answers = await Promise.all(Array.from({ length: 40 }, () => fetch(`${service.url}/v1/events`, { method: 'HEAD' })))
    expect(answers.every(({ status }) => status === 200)).toBe(true)
    const events = await fetch(`${service.url}/v1/events`)
    expect([events.status, events.headers.get('content-type')]).toEqual([200, 'text/event-stream'])
    await events.body?.cancel()
  })

  it('writes nothing down of a request that is broken off', async () => {
    const { hostname, port } = new URL(service.url)
    const before = service.output()
    for (let nth = 0; nth < 5; nth += 1) {
      const socket = connect(Number(port), hostname)
      socket.write('POST /v1/check HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{')
      await new Promise((resolve) => setTimeout(resolve, 20))
      socket.destroy()
    }
    expect((await fetch(`${service.url}/livez`)).status).toBe(200)
    expect(service.output()).toBe(before)
  })

  it('reports health and metrics, and never limits them', async () => {
    expect(await (await fetch(`${service.url}/livez`)).text()).toBe('ok\n')
    expect(await (await fetch(`${service.url}/readyz`)).json()).toEqual({ status: 'ready' })
    const answer = await fetch(`${service.url}/metrics`)
    expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    const text = await answer.text()
    expect(text).toMatch(/^sluice_requests_total\{rule="endpoint:\/api\/search",route="[^"]*",result="denied"\} \d+$/m)
    expect(text).toMatch(/^sluice_requests_blocked_total\{/m)
    expect(text).toMatch(/^sluice_decision_duration_seconds_bucket\{source="store",le="\+Inf"\} \d+$/m)
    expect(text).not.toContain('127.0.0.1')
  })

  it('says what else it knows', async () => {
    expect((await fetch(`${service.url}/v1/check`)).status).toBe(405)
    expect((await fetch(`${service.url}/api/other`)).status).toBe(404)
    const page = await fetch(service.url)
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
  })
})

describe('serve refuses to start with one line', () => {
  it.each(['127.0.0.1', '[::1]'])('for a port in use on %s', async (host) => {
    const other = createServer()
    await new Promise<void>((resolve) => other.listen(0, host.replaceAll(/[[\]]/g, ''), resolve))
    const { port } = other.address() as AddressInfo
    const ran = await run(['serve', '--demo', ...(host === '127.0.0.1' ? [] : ['--listen', `${host}:${port}`])], { PORT: String(port) })
    expect(ran).toEqual({
      code: 1,
      stdout: '',
      stderr: `sluice: cannot listen on ${host}:${port}: the port is in use; set PORT or --listen to another\n`,
    })
    await new Promise((resolve) => other.close(resolve))
  })

  it.each([
    ['redis://user:secret@127.0.0.1:1', 2, 'store redis://***@127.0.0.1:1 cannot be reached'],
    ['postgres://user:secret@127.0.0.1:1/db', 2, 'store postgres://***@127.0.0.1:1/db cannot be reached'],
    ['redis+cluster://user:secret@127.0.0.1:1', 2, 'store redis+cluster://***@127.0.0.1:1 cannot be reached'],
    ['redis+sentinel://user:secret@127.0.0.1:1/primary', 2, 'store redis+sentinel://***@127.0.0.1:1/primary cannot be reached'],
    ['redis://user:top@secret@127.0.0.1:1', 3, 'store redis://***@127.0.0.1:1 is not the URL of a store'],
    ['redis://user:1/secret@127.0.0.1:1', 3, 'store redis://*** has an @ after its host: write / ? # and @ of a password as %2F'],
    ['postgres://127.0.0.1:1/secret@127.0.0.1:1', 3, 'store postgres://*** has an @ after its host'],
    ['postgres://127.0.0.1:1#secret@127.0.0.1:1', 3, 'store postgres://*** has an @ after its host'],
    ['memory://user:1/secret@127.0.0.1:1', 3, 'store memory://*** has an @ after its host'],
    [
      'redis://127.0.0.1:1?password=secret',
      3,
      'store redis://127.0.0.1:1?*** has the unknown parameter password: expected tls, ca, cert, key',
    ],
    ['mysql://127.0.0.1', 3, 'unknown kind; expected memory:'],
  ])('for the store %s', async (store, code, line) => {
    const ran = await run(['serve', '--demo', '--require-store'], { PORT: '0', SLUICE_STORE: store })
    expect([ran.code, ran.stdout]).toEqual([code, ''])
    expect(ran.stderr).toContain(line)
    expect(ran.stderr.trimEnd().split('\n')).toHaveLength(1)
    expect(ran.stderr).not.toContain('secret')
  })

  it.each([
    [['serve'], {}, 3, 'give a policy file'],
    [['serve', '--demo'], { PORT: 'http' }, 3, 'PORT is "http"'],
    [['serve', '--demo', '--listen', '0.0.0.0:0'], {}, 3, 'others can reach this address; give --admin-token-file'],
    [['serve', '--demo', '--listen', '[::]:0'], {}, 3, 'others can reach this address; give --admin-token-file'],
    [['serve', '--demo', '--admin-token-file', 'no-such-file'], { PORT: '0' }, 1, 'no-such-file cannot be read'],
    [['serve', '--nothing'], {}, 3, '--nothing'],
    [['serve', 'no-such-file.yaml'], { PORT: '0' }, 1, 'no-such-file.yaml cannot be read'],
    [['frobnicate'], {}, 3, 'unknown command frobnicate'],
    [[], {}, 3, 'no command given'],
  ])('for %j', async (args, env, code, line) => {
    const ran = await run(args, env)
    expect([ran.code, ran.stderr]).toEqual([code, expect.stringContaining(line)])
  })
})

const engines = inject('engines')

describe.each([
  ['redis', engines.redis],
  ['postgres', engines.postgres],
])('serve --store %s', (_name, url) => {
  it.skipIf(url === undefined)('keeps limits over a restart', async () => {
    const policy = policyFile(
      'version: 1\nfailure: { deadline: 10s }\nrules:\n  - { name: slow, key: ["header:x-key"], rate: 1/h, burst: 1000 }\n',
    )
    const key = `restart-${process.pid}-${Date.now()}`
    const outcomes: string[] = []
    for (let start = 0; start < 2; start += 1) {
      const service = await serve([policy, '--store', url ?? ''])
      const check = async (name: string): Promise<string> =>
        ((await (await post(service.url, { key: name, limit: 'slow', cost: 700 })).json()) as { outcome: string }).outcome
      // The first request makes the connection to the store, so on a busy machine it may miss its deadline. It is repeated until it is
      // decided.
      for (let warm = 0; (await check(`${key}-${start}-${warm}`)) === 'undecided';) warm += 1
      outcomes.push(await check(key))
      expect(await service.stop(start === 0 ? 'SIGTERM' : 'SIGINT')).toBe(0)
    }
    expect(outcomes).toEqual(['allowed', 'denied'])
  })
})
