import { connect } from 'node:net'
import { expect, it } from 'vitest'
import type { Decision } from '../decision/decision.ts'
import type { GateOptions } from '../http/gate-options.ts'
import type { RequestFacts } from '../identity/request.ts'
import type { HeaderOptions } from '../policy/model/header-choice.ts'
import { type Bench, FIELDS, PROBLEM, sent, statuses } from './adapter-bench.ts'
import type { HttpRequest } from './send-http.ts'

const KEY = 'x-api-key'
const fails = (): never => {
  throw new Error('no answer')
}

export function optionCases<Request>({ adapter, limiter, serve, said }: Bench<Request>): void {
  const byKey = (request: Request): string => adapter.header(request, KEY) ?? 'nobody'
  const as = (key: string): HttpRequest => ({ headers: { [KEY]: key } })

  it.each([
    ['at once', (path: string) => path.startsWith('/healthz')],
    ['later', async (path: string) => path.startsWith('/healthz')],
  ])('skips %s: no charge and no headers', async (_when, skips) => {
    const send = await serve({ limiter: limiter(), skip: (request) => skips(adapter.path(request)) })
    for (let count = 0; count < 4; count += 1) {
      const skipped = await send({ path: '/healthz?x' })
      expect([skipped.status, skipped.text, sent(skipped, FIELDS)]).toEqual([200, 'hello', []])
    }
    expect((await send()).headers['ratelimit-remaining']).toBe('1')
  })

  it.each([
    ['a number', 2],
    ['a function', () => 2],
    ['a function that takes its time', async () => 2],
  ])('charges a cost that is %s', async (_what, cost) => {
    const send = await serve({ limiter: limiter(), cost })
    expect(await statuses(send, [{}, {}])).toEqual([200, 429])
  })

  it('a cost that can never pass has a reason and no Retry-After, and charges nothing', async () => {
    const send = await serve({ limiter: limiter(), cost: (request) => Number(adapter.header(request, 'x-cost') ?? 1) })
    const answer = await send({ headers: { 'x-cost': '3' } })
    expect([answer.status, answer.headers['retry-after']]).toEqual([429, undefined])
    expect(answer.headers['cache-control']).toBe('no-store')
    expect(JSON.parse(answer.text)).toMatchObject({ reason: 'capacity', 'violated-policies': ['default'] })
    expect((await send()).headers['ratelimit-remaining']).toBe('1')
  })

  it('counts by the key, given at once or later, and reveals it to nobody', async () => {
    for (const key of [byKey, async (request: Request) => byKey(request)]) {
      const send = await serve({ limiter: limiter(), key })
      expect(await statuses(send, ['token-of-ada', 'token-of-ada', 'token-of-bob'].map(as))).toEqual([200, 200, 200])
      const denied = await send(as('token-of-ada'))
      expect(denied.status).toBe(429)
      for (const output of [JSON.stringify(denied.headers), denied.text, said.join()]) expect(output).not.toContain('token-of')
      expect(denied.text).not.toContain('127.0.0.1')
    }
  })

  it('believes no forwarding header of a peer that is not a trusted proxy, and warns of it once', async () => {
    const forged = ['1.1.1.1', '2.2.2.2', '3.3.3.3'].map((each) => ({
      headers: { 'x-forwarded-for': each, 'x-real-ip': each, forwarded: `for=${each}`, 'cf-connecting-ip': each },
    }))
    const warned = expect.stringContaining('a request from this machine has the header x-forwarded-for, but trustedProxies does not name')
    for (const [options, expected] of [
      [{}, [warned]],
      [{ trustedProxies: ['10.0.0.0/8'] }, [warned]],
      [{ trustedProxies: [] }, []],
    ] as const) {
      const warnings: string[] = []
      const onWarning = (message: string): void => void warnings.push(message)
      const send = await serve({ limiter: limiter(), ...options, onWarning })
      expect(await statuses(send, forged)).toEqual([200, 200, 429])
      expect(warnings).toEqual(expected)
    }
  })

  it('takes the right-most address that no trusted proxy has, in one spelling and by prefix', async () => {
    const via = (forwarded: string): HttpRequest => ({ headers: { 'x-forwarded-for': forwarded } })
    const send = await serve({ limiter: limiter(), trustedProxies: ['loopback'] })
    expect(await statuses(send, ['6.6.6.6, 1.1.1.1', '7.7.7.7, 1.1.1.1', '8.8.8.8, ::ffff:1.1.1.1', '2.2.2.2'].map(via))).toEqual([
      200, 200, 429, 200,
    ])
    expect(await statuses(send, ['2001:db8::1', '2001:DB8:0::2', '2001:db8::3', '2001:db8:1::1'].map(via))).toEqual([200, 200, 429, 200])
  })

  it('answers with onDenied instead, after status and headers', async () => {
    const textOf = (denied: Decision): string => `${denied.outcome} by ${denied.limitName} for ${denied.retryAfterMs}`
    const send = await serve({ limiter: limiter() }, textOf)
    expect(await statuses(send, [{}, {}])).toEqual([200, 200])
    const denied = await send()
    expect([denied.status, denied.text]).toEqual([418, 'denied by default for 60000'])
    expect(sent(denied, ['ratelimit', 'retry-after', 'cache-control'])).toHaveLength(3)
    expect(denied.headers['content-type'] ?? '').not.toMatch(PROBLEM)
  })

  it('an onDenied that throws is an error, not an open connection', async () => {
    const send = await serve({ limiter: limiter(), cost: 2 }, fails)
    const [passed, ...refused] = await statuses(send, [{}, {}, {}])
    expect(passed).toBe(200)
    // Some frameworks keep the status that was set before the error.
    for (const status of refused) expect(status).toBeGreaterThanOrEqual(400)
  })

  it.each([
    ['key', { key: () => Promise.reject(new Error('no key')) }],
    ['an empty key', { key: () => '' }],
    ['skip', { skip: fails }],
    ['cost', { cost: () => Promise.reject(new Error('no cost')) }],
    ['a negative cost', { cost: () => -5 }],
    ['a cost that is not a number', { cost: () => Number.NaN }],
  ] as [string, GateOptions<Request>][])('never lets pass where it cannot say: %s', async (_what, options) => {
    let faulty = true
    const skip = (request: Request) => (faulty ? (options.skip?.(request) ?? false) : true)
    const send = await serve({ limiter: limiter(), ...options, skip })
    const answer = await send()
    expect([answer.status, answer.text.includes('hello')]).toEqual([500, false])
    faulty = false
    expect((await send()).status).toBe(200)
  })

  it('survives a client that leaves while it is being decided', async () => {
    let arrived = (): void => {}
    let decide = (_key: string): void => {}
    const reached = new Promise<void>((resolve) => (arrived = resolve))
    const key = new Promise<string>((resolve) => (decide = resolve))
    const send = await serve({ limiter: limiter(), key: () => (arrived(), key) })
    const { port, hostname } = new URL(send.url)
    const socket = connect(Number(port), hostname).on('error', () => {})
    socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await reached
    const closed = new Promise((resolve) => socket.once('close', resolve))
    socket.destroy()
    await closed
    decide('gone')
    expect((await send()).headers['ratelimit-remaining']).toBe('0')
  })

  it('passes an engine the facts of a request, and writes what its policy and its answer say', async () => {
    const received: RequestFacts[] = []
    const within = limiter()
    const engine = {
      headers: { dialect: 'draft-7' } as HeaderOptions,
      async decide(facts: RequestFacts) {
        received.push(facts)
        return { ...(await within.check('all', { cost: facts.cost ?? 1 })), identity: 'i', violated: ['one', 'two'] }
      },
    }
    const send = await serve({ engine, cost: 2 })
    const passed = await send({ method: 'POST', path: '/a//b/%61?q=1', headers: { 'x-one': '1' } })
    expect(passed.headers['ratelimit']).toBe('limit=2, remaining=0, reset=60')
    expect(received).toMatchObject([{ method: 'POST', ip: '127.0.0.1', cost: 2, headers: { 'x-one': '1' } }])
    expect(received[0]?.path).toMatch(/\/a\/\/b\/%61\?q=1$/)
    engine.headers = { dialect: 'off' }
    const denied = await send()
    expect(sent(denied, FIELDS)).toEqual([])
    expect(JSON.parse(denied.text)).toMatchObject({ 'violated-policies': ['one', 'two'] })
  })

  it.each([
    [{}, 'either limiter or engine'],
    [{ limiter: {} }, 'expected what createLimiter gave'],
    [{ max: 3 }, 'unknown option max'],
    [{ key: 'x-api-key' }, 'key is "x-api-key", expected a function'],
    [{ cost: 0 }, 'cost is 0'],
    [{ headers: { dialect: 'draft-99' } }, 'dialect is "draft-99", expected draft-11'],
    [{ trustedProxies: ['::ffff:10.0.0.0/8'] }, 'prefix of at least 96'],
  ])('refuses %j when it is made', async (options, message) => {
    const alone = 'limiter' in options || Object.keys(options).length === 0
    const passed = alone ? options : { limiter: limiter(), ...options }
    await expect(adapter.serve(passed as GateOptions<Request>)).rejects.toThrow(message)
  })
}
