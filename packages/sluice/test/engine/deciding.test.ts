import { describe, expect, it } from 'vitest'
import type { RequestFacts } from '../../src/identity/request.ts'
import { bench, facts, TWO } from './bench.ts'

describe('deciding', () => {
  it('charges all rules or none, and names those that deny', async () => {
    const { engine, clock } = bench(TWO)
    for (let left = 2; left >= 0; left -= 1) {
      expect(await engine.decide(facts())).toMatchObject({
        outcome: 'allowed',
        allowed: true,
        violated: [],
        shadow: [],
        rules: [
          { name: 'global', mode: 'enforce' },
          { name: 'per-ip', mode: 'enforce' },
        ],
        limits: [
          { name: 'per-ip', limit: 3, remaining: left },
          { name: 'global', remaining: 7 + left },
        ],
      })
    }
    const denied = { outcome: 'denied', limitName: 'per-ip', reason: 'quota', retryAfterMs: 1_000, violated: ['per-ip'] }
    expect(await engine.decide(facts())).toMatchObject({
      ...denied,
      limits: [
        { name: 'per-ip', remaining: 0 },
        { name: 'global', remaining: 7 },
      ],
    })
    expect(await engine.decide(facts({ ip: '192.0.2.2' }))).toMatchObject({
      outcome: 'allowed',
      limits: [{ remaining: 2 }, { remaining: 6 }],
    })
    clock.advance(999)
    expect((await engine.decide(facts())).allowed).toBe(false)
    clock.advance(1)
    expect((await engine.decide(facts())).allowed).toBe(true)
  })

  it('is exact under concurrency', async () => {
    const { engine } = bench(TWO)
    const decisions = await Promise.all(Array.from({ length: 100 }, (_, index) => engine.decide(facts({ ip: `192.0.2.${index % 50}` }))))
    expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(10)
  })

  it('orders limits by what they admit of this request: the most restrictive first', async () => {
    const { engine } = bench(`
rules:
  - { name: fast-but-dear, key: [], rate: 100/s, burst: 100, cost: 100 }
  - { name: slow, key: [], rate: 2/s, burst: 100 }
`)
    expect((await engine.decide(facts())).limits.map(({ name }) => name)).toEqual(['fast-but-dear', 'slow'])
  })

  it('calls a cost above the capacity impossible', async () => {
    const { engine } = bench(TWO)
    expect(await engine.decide(facts({ cost: 4 }))).toMatchObject({ outcome: 'impossible', limitName: 'per-ip', violated: ['per-ip'] })
    expect((await engine.decide(facts())).limits[0]?.remaining).toBe(2)
  })

  it('allows what no rule matches, inventing no limit', async () => {
    const { engine, clock, store } = bench('rules: [{ name: a, match: { path: /b }, key: [], rate: 1/s, burst: 1 }]')
    expect(await engine.decide(facts())).toMatchObject({ outcome: 'allowed', limits: [], rules: [], violated: [], at: clock.now() / 1_000 })
    expect(store.size).toBe(0)
  })

  it('does nothing by rules that are off', async () => {
    const { engine, store } = bench('rules: [{ name: a, key: [], rate: 1/s, burst: 1, mode: off }]')
    for (let call = 0; call < 3; call += 1) expect(await engine.decide(facts())).toMatchObject({ allowed: true, rules: [] })
    expect(store.size).toBe(0)
  })

  it('keeps rules in shadow out of the outcome, and charges each on its own', async () => {
    const { engine } = bench(`
rules:
  - { name: real, key: [], rate: 1/s, burst: 2 }
  - { name: tried, key: [], rate: 1/s, burst: 1, mode: shadow }
  - { name: wide, key: [], rate: 1/s, burst: 9, mode: shadow }
`)
    const shadow = (tried: string): object[] => [
      { rule: 'tried', outcome: tried },
      { rule: 'wide', outcome: 'allowed' },
    ]
    expect(await engine.decide(facts())).toMatchObject({ allowed: true, shadow: shadow('allowed'), limits: [{ name: 'real' }] })
    expect(await engine.decide(facts())).toMatchObject({ allowed: true, shadow: shadow('denied'), violated: [] })
    expect(await engine.decide(facts())).toMatchObject({ allowed: false, limitName: 'real', shadow: shadow('denied'), violated: ['real'] })
  })

  it('decides by shadows alone when nothing is enforced', async () => {
    const { engine } = bench('rules: [{ name: tried, key: [], rate: 1/s, burst: 1, mode: shadow }]')
    await engine.decide(facts())
    expect(await engine.decide(facts())).toMatchObject({ outcome: 'allowed', limits: [], shadow: [{ rule: 'tried', outcome: 'denied' }] })
  })

  it('takes the cost from the client within its bounds, or from the caller instead', async () => {
    const { engine } = bench('rules: [{ name: a, key: [], rate: 1/s, burst: 100, cost: { from: "header:x-weight", max: 10 } }]')
    const remaining = async (more: Partial<RequestFacts>): Promise<number | undefined> =>
      (await engine.peek(facts(more))).limits[0]?.remaining
    await engine.decide(facts({ headers: { 'x-weight': '7.5' } }))
    expect(await remaining({})).toBe(92)
    await engine.decide(facts({ headers: { 'x-weight': '-50' } }))
    await engine.decide(facts({ headers: { 'x-weight': '1e9' } }))
    expect(await remaining({})).toBe(90)
    await engine.decide(facts({ headers: { 'x-weight': '500' } }))
    expect(await remaining({})).toBe(80)
    await engine.decide(facts({ headers: { 'x-weight': '5' }, cost: 60 }))
    expect(await remaining({})).toBe(20)
  })

  it.each([-5, 0, Number.NaN, Number.POSITIVE_INFINITY, 0.0000001])('refuses a cost of %d before the store is called', async (cost) => {
    const { engine, store } = bench(TWO)
    await expect(engine.decide(facts({ cost }))).rejects.toMatchObject({ code: 'INVALID_COST' })
    expect(store.size).toBe(0)
  })

  it('gives tiers of one rule buckets of their own', async () => {
    const { engine } = bench(`
rules:
  - name: a
    key: []
    tiers:
      - { when: { jwt:plan: pro }, rate: 1/s, burst: 2 }
      - { rate: 1/s, burst: 1 }
`)
    const plan = (name: string): Promise<{ allowed: boolean }> => engine.decide(facts({ claims: { plan: name } }))
    const allowed = [await plan('free'), await plan('free'), await plan('pro'), await plan('pro'), await plan('pro')].map(
      (decision) => decision.allowed,
    )
    expect(allowed).toEqual([true, false, true, true, false])
  })

  it('keeps keys apart that joined texts would mix up, and puts requests without the value together', async () => {
    const { engine } = bench('rules: [{ name: a, key: ["header:x", "header:y"], rate: 1/s, burst: 1 }]')
    const passes = async (x: string | undefined, y: string | undefined): Promise<boolean> =>
      (await engine.decide(facts({ headers: { x, y } }))).allowed
    expect([
      await passes('a:b', 'c'),
      await passes('a', 'b:c'),
      await passes('', ''),
      await passes(undefined, ''),
      await passes('', undefined),
    ]).toEqual([true, true, true, true, true])
    expect([await passes(undefined, undefined), await passes(undefined, undefined), await passes('a:b', 'c')]).toEqual([true, false, false])
  })

  it.each(['//api//items/', '/API/Items', '/api/./x/../items', '/%61pi/items?y=1', 'http://elsewhere/api/items', '/api/items#f'])(
    '%s does not escape its rule',
    async (path) => {
      const { engine } = bench('rules: [{ name: a, match: { path: /api/items }, key: ["path:"], rate: 1/s, burst: 1 }]')
      expect((await engine.decide(facts())).allowed).toBe(true)
      expect((await engine.decide(facts({ path }))).allowed).toBe(false)
    },
  )
})
