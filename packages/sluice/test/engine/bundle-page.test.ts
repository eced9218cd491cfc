import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { Decision } from '../../src/decision/decision.ts'
import { createEngine, type Engine, type EngineDecision } from '../../src/policy.ts'
import { headersOf } from '../../src/http/headers.ts'
import { StoreFailure } from '../../src/stores/store.ts'
import { remoteMemory } from '../remote-memory.ts'
import { requestOf, bare, bundleBench } from './bundle-bench.ts'

const fixture = (name: string): string => readFileSync(new URL(`../fixtures/seed-001-${name}.json`, import.meta.url), 'utf8')

async function times(count: number, decide: () => Promise<EngineDecision>): Promise<EngineDecision[]> {
  const decisions = []
  for (let index = 0; index < count; index += 1) decisions.push(await decide())
  return decisions
}

const admitted = (decisions: readonly Decision[]): number => decisions.filter(({ allowed }) => allowed).length
const sent = (engine: Engine, decision: EngineDecision): Record<string, string> =>
  Object.fromEntries(headersOf(decision, decision.identity, engine.headers))

describe("what the page of Fairvisor's Token Bucket prints", () => {
  it('the configuration: 200 at once, then 100 a second', async () => {
    const { engine, clock } = bundleBench(fixture('configuration'))
    expect(engine.policy).toMatchObject({
      dialect: 'bundle',
      warnings: ['policy.json:1:1: limit_keys is missing: all requests share one bucket'],
    })
    const decisions = await times(201, () => engine.decide(requestOf()))
    expect(decisions.slice(0, 200).map(({ limits: [limit] }) => limit?.remaining)).toEqual(
      Array.from({ length: 200 }, (_, index) => 199 - index),
    )
    expect(decisions[200]).toMatchObject({ outcome: 'denied', retryAfterMs: 10 })
    clock.advance(1_000)
    expect(admitted(await times(150, () => engine.decide(requestOf({ ip: '192.0.2.9' }))))).toBe(100)
    clock.advance(10_000)
    expect(admitted(await times(250, () => engine.decide(requestOf())))).toBe(200)
  })

  it('refill: tokens flow in all the time, and a clock that steps back adds none', async () => {
    const { engine, clock } = bundleBench(fixture('configuration'))
    await times(200, () => engine.decide(requestOf()))
    clock.advance(10)
    expect(admitted(await times(2, () => engine.decide(requestOf())))).toBe(1)
    clock.shift(-5_000_000)
    expect(admitted(await times(2, () => engine.decide(requestOf())))).toBe(0)
  })

  it('the variable cost: five tokens for X-Request-Weight: 5, one where it is missing or no number', async () => {
    const { engine } = bundleBench(fixture('variable-cost'))
    const left = async (headers: Readonly<Record<string, string>>): Promise<number | undefined> =>
      (await engine.decide(requestOf({ headers }))).limits[0]?.remaining
    expect(await left({ 'x-request-weight': '5' })).toBe(995)
    expect(await left({})).toBe(994)
    expect(await left({ 'x-request-weight': 'heavy' })).toBe(993)
    expect(await left({ 'x-request-weight': '993' })).toBe(0)
  })

  it('the global limit: ten at once for each address, then five a second', async () => {
    const { engine, clock } = bundleBench(fixture('global'))
    expect(engine.policy.warnings).toEqual([])
    const from = (ip: string) => () => engine.decide(requestOf({ ip }))
    expect(admitted(await times(12, from('192.0.2.1')))).toBe(10)
    expect(await from('192.0.2.1')()).toMatchObject({ outcome: 'denied', limitName: 'global-rps', retryAfterMs: 200 })
    expect(admitted(await times(12, from('192.0.2.2')))).toBe(10)
    clock.advance(1_000)
    expect(admitted(await times(9, from('192.0.2.1')))).toBe(5)
  })

  it('the tiers: 2000 at once for a key with an enterprise plan, 20 for the others', async () => {
    const { engine, clock } = bundleBench(fixture('tiers'))
    expect(engine.policy.warnings).toEqual([
      expect.stringContaining('requests without header:x-api-key share one bucket'),
      expect.stringContaining('no limit_keys name jwt:plan'),
      'policy.json:10:5: rules[1]: free has no match and follows enterprise with the same limit_keys, so it is read as their else; with "match": {} it would apply to every request',
    ])
    const enterprise = () => engine.decide(requestOf({ headers: { 'x-api-key': 'e' }, claims: { plan: 'enterprise' } }))
    const free = (key: string) => () => engine.decide(requestOf({ headers: { 'x-api-key': key } }))
    const big = await times(2_001, enterprise)
    expect(admitted(big)).toBe(2_000)
    expect(big[0]).toMatchObject({
      rules: [{ name: 'enterprise', mode: 'enforce' }],
      limits: [{ name: 'enterprise', limit: 2_000, remaining: 1_999 }],
    })
    const small = await times(21, free('f'))
    expect(admitted(small)).toBe(20)
    expect(small[20]).toMatchObject({ rules: [{ name: 'free' }], limitName: 'free', retryAfterMs: 100 })
    expect(admitted(await times(21, free('g')))).toBe(20)
    expect(admitted(await times(21, () => engine.decide(requestOf({ headers: { 'x-api-key': 'h' }, claims: { plan: 'pro' } }))))).toBe(20)
    clock.advance(1_000)
    expect([admitted(await times(1_100, enterprise)), admitted(await times(30, free('f')))]).toEqual([1_000, 10])
  })

  it('the header fields of an allowed request', async () => {
    const { engine } = bundleBench(bare({ tokens_per_second: 100, burst: 200 }, { name: 'per-org-rps' }))
    const decision = (await times(113, () => engine.decide(requestOf()))).at(-1) as EngineDecision
    const headers = sent(engine, decision)
    expect(headers).toMatchObject({
      'RateLimit-Limit': '200',
      'RateLimit-Remaining': '87',
      'RateLimit-Reset': '1',
      RateLimit: '"per-org-rps";r=87;t=1',
    })
    expect(Object.keys(headers).filter((name) => /retry|fairvisor/i.test(name))).toEqual([])
  })

  it('the header fields of a rejected one, Retry-After within its jitter', async () => {
    const { engine } = bundleBench(bare({ tokens_per_second: 100, burst: 200 }, { name: 'per-org-rps', limit_keys: ['ip:address'] }))
    const seen = new Set<string | undefined>()
    for (let client = 1; client <= 50; client += 1) {
      const facts = requestOf({ ip: `192.0.2.${client}` })
      await engine.decide({ ...facts, cost: 199 })
      const denied = await engine.decide({ ...facts, cost: 200 })
      const { 'Retry-After': wait, ...headers } = sent(engine, denied)
      expect(denied).toMatchObject({ outcome: 'denied', retryAfterMs: 1_990, limits: [{ remaining: 1 }] })
      expect(headers).toMatchObject({
        'RateLimit-Limit': '200',
        'RateLimit-Remaining': '0',
        'RateLimit-Reset': '2',
        RateLimit: '"per-org-rps";r=0;t=2',
        'X-Fairvisor-Reason': 'token_bucket_exceeded',
      })
      expect(sent(engine, await engine.decide({ ...facts, cost: 200 }))['Retry-After']).toBe(wait)
      seen.add(wait)
    }
    expect(seen).toEqual(new Set(['2', '3']))
  })

  it('the failure behaviour: a store that fails stops no traffic and takes no tokens, and the decision says so', async () => {
    const { engine, store, clock } = bundleBench(fixture('global'))
    const failing = remoteMemory(store, { decide: () => Promise.reject(new StoreFailure('memory', 'no', 'out of memory')) })
    const away = createEngine({ policy: engine.policy, store: failing, clock })
    for (let index = 0; index < 20; index += 1)
      expect(await away.decide(requestOf())).toMatchObject({
        outcome: 'undecided',
        allowed: true,
        degraded: { kind: 'memory', executed: 'no', message: 'out of memory' },
      })
    expect(sent(away, await away.decide(requestOf()))).toEqual({})
    expect((await engine.decide(requestOf())).limits[0]?.remaining).toBe(9)
  })
})
