import { describe, expect, it } from 'vitest'
import type { RequestFacts } from '../../src/identity/request.ts'
import { headersOf } from '../../src/http/headers.ts'
import { createEngine, type Engine, type EngineOptions } from '../../src/policy.ts'
import { parsePolicy } from '../../src/policy/parse.ts'
import { memoryStore } from '../../src/stores/memory/memory-store.ts'
import { type ManualClock, manualClock } from '../../src/time/manual.ts'
import { failingStore } from '../remote-memory.ts'
import { facts } from './bench.ts'

interface Bench {
  readonly engine: Engine
  readonly clock: ManualClock
}

function bench(text: string, options: Partial<EngineOptions> = {}): Bench {
  const clock = manualClock()
  return { engine: createEngine({ policy: parsePolicy(text), store: memoryStore({ clock }), clock, ...options }), clock }
}

async function admitted(engine: Engine, more: Partial<RequestFacts> = {}, most = 1_000): Promise<number> {
  for (let count = 0; count < most; count += 1) if (!(await engine.decide(facts(more))).allowed) return count
  return most
}

const GLOBAL = 'rate_limits:\n  global: { capacity: 500, refill_rate: 500 }\n'

describe("the template's levels, request by request", () => {
  it('capacity is the bucket: a smaller burst changes nothing, a larger one wins', async () => {
    expect(await admitted(bench('rate_limits:\n  global: { capacity: 10, refill_rate: 1, burst: 3 }\n').engine)).toBe(10)
    expect(await admitted(bench('rate_limits:\n  global: { capacity: 10, refill_rate: 1, burst: 15 }\n').engine)).toBe(15)
  })

  it('window is the period the rate is read over, and what clients see', async () => {
    const { engine, clock } = bench('rate_limits:\n  global: { capacity: 60, refill_rate: 60, window: 1m }\n')
    expect(await admitted(engine)).toBe(60)
    expect(await engine.peek(facts())).toMatchObject({ retryAfterMs: 1_000, limits: [{ windowMs: 60_000 }] })
    clock.advance(30_000)
    expect(await admitted(engine)).toBe(30)
    const { engine: second } = bench('rate_limits:\n  global: { capacity: 60, refill_rate: 60 }\n')
    await admitted(second)
    expect(await second.peek(facts())).toMatchObject({ retryAfterMs: 17 })
  })

  it('tenants have a bucket per identity, one for all where shared', async () => {
    const text = (shared: string): string => `${GLOBAL}  tenants:\n    default: { capacity: 4, refill_rate: 1${shared} }\n`
    const each = bench(text('')).engine
    expect([await admitted(each, { ip: '192.0.2.1' }), await admitted(each, { ip: '192.0.2.2' })]).toEqual([4, 4])
    expect([await admitted(each, { claims: { sub: 'a' } }), await admitted(each, { claims: { sub: 'b' } })]).toEqual([4, 4])
    const all = bench(text(', shared: true')).engine
    expect([await admitted(all, { ip: '192.0.2.1' }), await admitted(all, { ip: '192.0.2.2' })]).toEqual([4, 0])
  })

  it('endpoints have a bucket per identity and endpoint, one for all where shared', async () => {
    const text = (shared: string): string =>
      `${GLOBAL}  endpoints:\n    /a: { capacity: 3, refill_rate: 1${shared} }\n    /b/*: { capacity: 2, refill_rate: 1 }\n`
    const each = bench(text('')).engine
    expect(await admitted(each, { path: '/a' })).toBe(3)
    expect(await admitted(each, { path: '/a', ip: '192.0.2.2' })).toBe(3)
    expect(await admitted(each, { path: '/b/1' })).toBe(2)
    expect(await admitted(each, { path: '/b/2' })).toBe(0)
    const all = bench(text(', shared: true')).engine
    expect([await admitted(all, { path: '/a' }), await admitted(all, { path: '/a', ip: '192.0.2.2' })]).toEqual([3, 0])
  })

  it("an endpoint's cost is what a request to it costs at every level", async () => {
    const { engine } = bench(
      'rate_limits:\n  global: { capacity: 100, refill_rate: 1 }\n  tenants:\n    default: { capacity: 50, refill_rate: 1 }\n  endpoints:\n    /search: { cost: 5, capacity: 20, refill_rate: 1 }\n    /report: { cost: 7 }\n',
    )
    const left = async (path: string): Promise<[string, number][]> =>
      (await engine.decide(facts({ path }))).limits
        .map(({ name, remaining }): [string, number] => [name, remaining])
        .sort(([a], [b]) => (a < b ? -1 : 1))
    expect(await left('/search')).toEqual([
      ['endpoint:/search', 15],
      ['global', 95],
      ['tenant:default', 45],
    ])
    expect(await left('/report')).toEqual([
      ['global', 88],
      ['tenant:default', 38],
    ])
    expect(await left('/other')).toEqual([
      ['global', 87],
      ['tenant:default', 37],
    ])
    expect(await admitted(engine, { path: '/search' })).toBe(3)
    expect(await left('/other')).toEqual([
      ['global', 71],
      ['tenant:default', 21],
    ])
  })

  it('a denied request has cost no level anything', async () => {
    const { engine } = bench(`${GLOBAL}  tenants:\n    default: { capacity: 2, refill_rate: 1 }\n`)
    expect(await admitted(engine)).toBe(2)
    for (let call = 0; call < 5; call += 1) await engine.decide(facts())
    expect((await engine.peek(facts({ ip: '192.0.2.9' }))).limits).toMatchObject([
      { name: 'tenant:default' },
      { name: 'global', remaining: 498 },
    ])
  })
})

describe("the template's failure policy", () => {
  const answer = async (text: string, path = '/'): Promise<[string, boolean]> => {
    const { outcome, allowed } = await bench(text, { store: failingStore() }).engine.decide(facts({ path }))
    return [outcome, allowed]
  }
  const endpoint = (policy: string): string => `  endpoints:\n    /a: { capacity: 1, refill_rate: 1, failure_policy: ${policy} }\n`

  it.each([
    ['nowhere', GLOBAL, '/', 'undecided', false],
    ['fail_open outside', `${GLOBAL}failure_policy: fail_open\n`, '/', 'undecided', true],
    ['fail_closed outside', `${GLOBAL}failure_policy: fail_closed\n`, '/', 'undecided', false],
    ['local outside', `${GLOBAL}failure_policy: local\n`, '/', 'allowed', true],
    ['fail_open inside', `${GLOBAL}  failure_policy: fail_open\n`, '/', 'undecided', true],
    ['in the only level', 'rate_limits:\n  global: { capacity: 5, refill_rate: 5, failure_policy: fail_open }\n', '/', 'undecided', true],
    [
      'open in one endpoint, closed at the top: the strictest of those that apply',
      `${GLOBAL}${endpoint('fail_open')}`,
      '/a',
      'undecided',
      false,
    ],
    ['closed in one endpoint, open at the top', `${GLOBAL}${endpoint('fail_closed')}failure_policy: fail_open\n`, '/a', 'undecided', false],
    [
      'closed in another endpoint, open at the top',
      `${GLOBAL}${endpoint('fail_closed')}failure_policy: fail_open\n`,
      '/b',
      'undecided',
      true,
    ],
    [
      'closed in one tenant',
      `${GLOBAL}  tenants:\n    default: { capacity: 1, refill_rate: 1, failure_policy: fail_closed }\nfailure_policy: fail_open\n`,
      '/',
      'undecided',
      false,
    ],
  ])('%s', async (_, text, path, outcome, allowed) => {
    expect(await answer(text, path)).toEqual([outcome, allowed])
  })
})

describe("the template's headers and identities", () => {
  it.each([
    ['', ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'Retry-After']],
    ['headers: { include_limit: false }\n', ['X-RateLimit-Remaining', 'Retry-After']],
    ['headers: { include_remaining: false }\n', ['X-RateLimit-Limit', 'Retry-After']],
    ['headers: { include_retry_after: false }\n', ['X-RateLimit-Limit', 'X-RateLimit-Remaining']],
    ['  headers: { include_limit: false, include_remaining: false, include_retry_after: false }\n', []],
  ])('%j sends %j on a denial', async (more, names) => {
    const { engine } = bench(`rate_limits:\n  global: { capacity: 1, refill_rate: 1 }\n${more}`)
    await engine.decide(facts())
    const decision = await engine.decide(facts())
    const sent = headersOf(decision, decision.identity, engine.headers).map(([name]) => name)
    expect(sent.filter((name) => /^(?:X-RateLimit-|Retry-After)/.test(name))).toEqual(names)
  })

  it('separates tenants by the header that an identity block names, and their tier by its map', async () => {
    const { engine } = bench(
      `${GLOBAL}  tenants:\n    default: { capacity: 2, refill_rate: 1 }\n    premium: { capacity: 6, refill_rate: 1 }\n  identity: { header: x-api-key, tiers: { key-1: premium } }\n`,
    )
    const by = (key: string): Promise<number> => admitted(engine, { headers: { 'x-api-key': key } })
    expect([await by('key-1'), await by('key-2'), await by('key-3'), await by('key-1')]).toEqual([6, 2, 2, 0])
    expect(await admitted(engine, { claims: { sub: 'who' } })).toBe(2)
    expect(await admitted(engine, { claims: { sub: 'other' } })).toBe(0)
  })

  it('believes the tier of a trusted proxy, and nobody else', async () => {
    const { engine } = bench(
      `${GLOBAL}  tenants:\n    default: { capacity: 2, refill_rate: 1 }\n    premium: { capacity: 6, refill_rate: 1 }\ntrustedProxies: [10.0.0.0/8]\n`,
    )
    const headers = { 'x-tenant-tier': 'premium', 'x-forwarded-for': '198.51.100.7' }
    expect(await admitted(engine, { headers, ip: '10.0.0.1' })).toBe(6)
    expect(await admitted(engine, { headers, ip: '192.0.2.50' })).toBe(2)
  })
})
