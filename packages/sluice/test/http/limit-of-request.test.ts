import { describe, expect, it } from 'vitest'
import { createGate, type Passage, type RequestReader } from '../../src/http/gate.ts'
import type { GateOptions } from '../../src/http/gate-options.ts'
import { type AnyLimit, createLimiter, fixedWindow, type Limiter, memoryStore, tokenBucket } from '../../src/index.ts'
import { createEngine, parsePolicy } from '../../src/policy.ts'
import { manualClock } from '../../src/time/manual.ts'

type Plain = Readonly<Record<string, string>>
const reader: RequestReader<Plain> = { method: () => 'GET', target: () => '/', headers: (headers) => headers }
const gate = (options: GateOptions<Plain>) => createGate(options, reader)
const bucket = (burst: number): AnyLimit => tokenBucket({ rate: '1/h', burst })

/** A limiter that counts how often `withLimit` made another limiter of it. */
function counting(): Limiter & { readonly made: number } {
  const limiter = createLimiter({ name: 'api', limits: { plan: bucket(1) }, clock: manualClock() })
  const state = { made: 0 }
  const withLimit: Limiter['withLimit'] = (limit) => ((state.made += 1), limiter.withLimit(limit))
  return Object.defineProperty({ ...limiter, withLimit, made: 0 }, 'made', { get: () => state.made })
}

describe('a limit by request', () => {
  const plans: Readonly<Record<string, AnyLimit>> = { free: bucket(2), pro: bucket(5) }
  const byPlan = (options: Partial<GateOptions<Plain>> = {}) =>
    gate({ limiter: counting(), key: () => 'ada', limit: ({ plan = '' }) => plans[plan] as AnyLimit, ...options })
  const views = (passage: Passage) => passage.decision?.limits.map(({ name, limit, remaining }) => [name, limit, remaining])

  it('is used in place of the own limit, at once or later', async () => {
    const now = byPlan().check({ plan: 'pro' }, undefined)
    expect(now).not.toBeInstanceOf(Promise)
    expect(views(now as Passage)).toEqual([['plan', 5, 4]])
    const later = byPlan({ limit: async ({ plan = '' }) => plans[plan] as AnyLimit })
    expect(views(await later.check({ plan: 'free' }, undefined))).toEqual([['plan', 2, 1]])
  })

  it('law 7: a caller that changes its plan with each request gets no new tokens', async () => {
    const limited = byPlan()
    const outcomes: unknown[] = []
    for (let turn = 0; turn < 20; turn += 1)
      outcomes.push((await limited.check({ plan: turn % 2 === 0 ? 'pro' : 'free' }, undefined)).decision?.allowed)
    expect(outcomes.filter(Boolean).length).toBeLessThanOrEqual(5)
    expect(outcomes.slice(-2)).toEqual([false, false])
  })

  it('equal limits share one limiter, even if each request makes its own', async () => {
    const limiter = counting()
    const limited = gate({ limiter, key: () => 'ada', limit: ({ burst }) => bucket(Number(burst)) })
    for (let turn = 0; turn < 50; turn += 1) await limited.check({ burst: String(5 + (turn % 3)) }, undefined)
    expect(limiter.made).toBe(3)
  })

  it('keeps at most 1,000 limits, and loses no state beyond that', async () => {
    const limiter = counting()
    const limited = gate({ limiter, key: () => 'ada', limit: ({ burst }) => bucket(Number(burst)) })
    const check = async (burst: number): Promise<Passage> => limited.check({ burst: String(burst) }, undefined)
    for (let burst = 2_001; burst <= 3_000; burst += 1) await check(burst)
    expect(limiter.made).toBe(1_000)
    await check(2_001)
    expect(limiter.made).toBe(1_000)
    await check(3_001)
    const again = await check(2_001)
    expect(limiter.made).toBe(1_002)
    expect(views(again)).toEqual([['plan', 2_001, 2_001 - 1_003]])
  })

  it.each<[string, unknown]>([
    ['undefined', undefined],
    ['null', null],
    ['100', 100],
    ['"10/s"', '10/s'],
    ['{"rate":"10/s"}', { rate: '10/s' }],
  ])('one that is %s is an error that says what is expected', async (shown, value) => {
    const expected = `rateLimit: what limit returned is ${shown}, expected a limit, such as tokenBucket({ rate: '10/s', burst: 20 })`
    await expect((async () => byPlan({ limit: () => value as AnyLimit }).check({}, undefined))()).rejects.toThrow(expected)
    await expect((async () => byPlan({ limit: async () => value as AnyLimit }).check({}, undefined))()).rejects.toThrow(expected)
  })

  it('one of another algorithm than that of the limiter is an error that names both', async () => {
    const limit = (): AnyLimit => fixedWindow({ limit: 1_000, window: '1s' })
    await expect((async () => byPlan({ limit }).check({}, undefined))()).rejects.toThrow(
      "limiter api: limit plan is a fixed-window, but the limiter's own limit is a token-bucket",
    )
  })

  it('is refused where it would have no effect', () => {
    const engine = createEngine({
      policy: parsePolicy('version: 1\nrules: [{ name: a, key: [], rate: 1/s, burst: 1 }]'),
      store: memoryStore(),
    })
    expect(() => gate({ engine, limit: () => bucket(1) })).toThrow('limit is for a limiter; an engine takes the limits of its rules')
    const several = createLimiter({ limits: { second: bucket(1), day: bucket(2) } })
    expect(() => gate({ limiter: several, limit: () => bucket(1) })).toThrow(
      'limit is for a limiter with one limit; this one has second, day',
    )
    expect(() => byPlan({ limit: bucket(1) as never })).toThrow('expected a function of the request; a limit for all requests belongs to')
  })
})

describe('keys by address', () => {
  const limiter = () => createLimiter({ limit: bucket(1), clock: manualClock() })
  const together = async (ipv6Prefix: number | undefined, ...peers: readonly string[]): Promise<boolean> => {
    const limited = gate({ limiter: limiter(), ...(ipv6Prefix === undefined ? {} : { ipv6Prefix }) })
    const outcomes: unknown[] = []
    for (const peer of peers) outcomes.push((await limited.check({}, peer)).decision?.outcome)
    return outcomes.at(-1) === 'denied'
  }

  it.each([
    [undefined, '2001:db8:1:2::1', '2001:db8:1:2:ffff::1', true],
    [undefined, '2001:db8:1:2::1', '2001:db8:1:3::1', false],
    [56, '2001:db8:1:2ab::1', '2001:db8:1:2ff::1', true],
    [56, '2001:db8:1:2ab::1', '2001:db8:1:3ab::1', false],
    [32, '2001:db8::1', '2001:db8:ffff::1', true],
    [128, '2001:db8::1', '2001:db8::2', false],
    [128, '2001:db8::1', '2001:DB8:0::1', true],
    [32, '192.0.2.1', '192.0.2.2', false],
    [32, '::ffff:192.0.2.1', '192.0.2.1', true],
  ])('ipv6Prefix %s: %s and %s are one client: %s', async (prefix, one, other, same) => {
    expect(await together(prefix, one, other)).toBe(same)
  })

  it.each([31, 129, 56.5, Number.NaN, '64', 0])('refuses the prefix %s', (prefix) => {
    expect(() => gate({ limiter: limiter(), ipv6Prefix: prefix as number })).toThrow(
      /^rateLimit: ipv6Prefix is .*expected a whole number from 32 to 128$/,
    )
  })

  it.each([{ trustedProxies: ['loopback'] }, { onWarning: () => {} }])('refuses %j with a key, where it would have no effect', (option) => {
    expect(() => gate({ limiter: limiter(), key: () => 'a', ...option })).toThrow('is for keys by address; with key it has no effect')
  })

  it('refuses a prefix where it would have no effect', () => {
    expect(() => gate({ limiter: limiter(), key: () => 'a', ipv6Prefix: 56 })).toThrow(
      'ipv6Prefix is for keys by address; with key it has no',
    )
    expect(() => gate({ engine: { decide: async () => Promise.reject(new Error('never')) }, ipv6Prefix: 56 })).toThrow(
      'ipv6Prefix is for a limiter; an engine takes the keys of its rules, such as ip:/56',
    )
  })
})

describe('Retry-After', () => {
  const seconds = async (retryAfterJitter: boolean | undefined, waits: number, clients: number): Promise<Set<string>> => {
    const limiter = createLimiter({ limit: tokenBucket({ rate: { tokens: 1, per: waits }, burst: 1 }), clock: manualClock() })
    const limited = gate({ limiter, key: ({ key = '' }) => key, ...(retryAfterJitter === undefined ? {} : { retryAfterJitter }) })
    const seen = new Set<string>()
    for (let client = 0; client < clients; client += 1) {
      await limited.check({ key: `c${client}` }, undefined)
      const passage = await limited.check({ key: `c${client}` }, undefined)
      const setHeader = (name: string, value: string) => void (name === 'Retry-After' && seen.add(value))
      limited.applyHeaders({ getHeader: () => undefined, setHeader }, passage)
    }
    return seen
  }

  it.each([
    [60_000, '60'],
    [1_500, '2'],
    [250_000, '250'],
    [1_000, '1'],
  ])('retryAfterJitter: false sends the exact wait: %d ms is %s', async (wait, expected) => {
    expect([...(await seconds(false, wait, 20))]).toEqual([expected])
  })

  it('is spread by default and with true', async () => {
    for (const choice of [undefined, true]) expect((await seconds(choice, 60_000, 50)).size).toBeGreaterThan(5)
  })
})
