import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { createEngine } from '../../src/policy.ts'
import { parsePolicy } from '../../src/policy/parse.ts'
import { memoryStore } from '../../src/stores/memory/memory-store.ts'
import { manualClock } from '../../src/time/manual.ts'
import { bench, facts, TWO } from './bench.ts'

describe('deciding by a bare key', () => {
  const policy = readFileSync(new URL('../fixtures/seed-000.yaml', import.meta.url), 'utf8')

  it('charges the named rule, in the bucket of requests with this value', async () => {
    const { engine } = bench('rules:\n  - { name: k, match: { path: /a }, key: ["header:x-key", "ip:address"], rate: 1/s, burst: 2 }')
    const { ip: _, ...unknown } = facts({ path: '/a', headers: { 'x-key': 'me' } })
    expect(await engine.decide(unknown)).toMatchObject({ limits: [{ remaining: 1 }] })
    expect(await engine.decideKey({ key: 'me', limit: 'k' })).toMatchObject({ limits: [{ name: 'k', remaining: 0 }] })
    expect(await engine.decideKey({ key: 'me', limit: 'k' })).toMatchObject({ outcome: 'denied', violated: ['k'] })
    expect(await engine.decideKey({ key: 'me' })).toMatchObject({ allowed: true, limits: [] })
  })

  it('charges, with no rule named, those without conditions on a request', async () => {
    const clock = manualClock()
    const engine = createEngine({ policy: parsePolicy(policy), store: memoryStore({ clock }), clock })
    expect((await engine.decideKey({ key: 'user:42', cost: 3 })).limits).toMatchObject([
      { name: 'tenant:default', remaining: 97 },
      { name: 'global', remaining: 9_997 },
    ])
    expect((await engine.decideKey({ key: 'user:42', limit: 'tenant:premium' })).limits).toMatchObject([
      { name: 'tenant:premium', remaining: 999 },
    ])
  })

  it('costs what the rule charges where nothing is said', async () => {
    const clock = manualClock()
    const engine = createEngine({ policy: parsePolicy(policy), store: memoryStore({ clock }), clock })
    expect((await engine.decideKey({ key: 'k', limit: 'endpoint:/api/search' })).limits).toMatchObject([{ remaining: 45 }])
    const { engine: other } = bench(
      'rules:\n  - { name: k, key: ["header:x-key"], rate: 1/s, burst: 9, cost: { from: "header:x-w", default: 4 } }',
    )
    expect((await other.decideKey({ key: 'k' })).limits).toMatchObject([{ remaining: 5 }])
  })

  it('refuses an empty key, a wrong cost and an unknown rule', async () => {
    const { engine } = bench(TWO)
    await expect(engine.decideKey({ key: '' })).rejects.toMatchObject({ code: 'INVALID_KEY' })
    await expect(engine.decideKey({ key: 'a', cost: -1 })).rejects.toMatchObject({ code: 'INVALID_COST' })
    await expect(engine.decideKey({ key: 'a', limit: 'nope' })).rejects.toThrow('limit is "nope", expected one of global, per-ip')
  })
})

describe("the template's policy at work", () => {
  const policy = parsePolicy(readFileSync(new URL('../fixtures/seed-000.yaml', import.meta.url), 'utf8'))

  it('charges a search five tokens at every level, and ten searches empty its bucket', async () => {
    const clock = manualClock()
    const engine = createEngine({ policy, store: memoryStore({ clock }), clock })
    const search = facts({ path: '/api/search?q=x' })
    expect((await engine.decide(search)).limits.map(({ name, limit, remaining, windowMs }) => [name, limit, remaining, windowMs])).toEqual([
      ['endpoint:/api/search', 50, 45, 10_000],
      ['tenant:default', 100, 95, 10_000],
      ['global', 10_000, 9_995, 1_000],
    ])
    for (let call = 0; call < 9; call += 1) expect((await engine.decide(search)).allowed).toBe(true)
    expect(await engine.decide(search)).toMatchObject({
      outcome: 'denied',
      limitName: 'endpoint:/api/search',
      retryAfterMs: 1_000,
      violated: ['endpoint:/api/search'],
    })
    expect((await engine.decide(facts({ path: '/api/data' }))).limits).toMatchObject([
      { name: 'tenant:default', remaining: 49 },
      { name: 'endpoint:/api/data' },
      { name: 'global' },
    ])
    expect((await engine.decide(facts({ path: '/api/search', claims: { sub: 'x', plan: 'premium' } }))).limits[0]?.remaining).toBe(45)
  })
})
