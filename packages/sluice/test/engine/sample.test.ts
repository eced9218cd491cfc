import { describe, expect, it } from 'vitest'
import { bench, facts } from './bench.ts'

describe('sampled rules', () => {
  const RULES = `
rules:
  - { name: each, key: [], rate: 1/s, burst: 1000 }
  - { name: some, key: [], rate: 1/s, burst: 100, sample: 10, cost: { from: "header:x-weight", max: 10 } }
`

  it('charge one request in n, n times, and the decision says that chance had a part', async () => {
    const drawn = [0.0999, 0.1, 0.5, 0, 0.999]
    const { engine } = bench(RULES, { random: () => drawn.shift() ?? 0.5 })
    const left = async (): Promise<[string, number][]> => {
      const decision = await engine.decide(facts({ headers: { 'x-weight': '2' } }))
      expect(decision).toMatchObject({ allowed: true, probabilistic: true })
      return decision.limits.map(({ name, remaining }) => [name, remaining])
    }
    expect(await left()).toEqual([
      ['some', 80],
      ['each', 999],
    ])
    expect(await left()).toEqual([['each', 998]])
    expect(await left()).toEqual([['each', 997]])
    expect(await left()).toEqual([
      ['some', 60],
      ['each', 996],
    ])
    expect(await left()).toEqual([['each', 995]])
  })

  it('admit about what the limit is, whoever is drawn', async () => {
    let state = 7
    const random = (): number => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647
    const { engine } = bench('rules: [{ name: some, key: [], rate: 1/day, burst: 200, sample: 5 }]', { random })
    let admitted = 0
    for (let call = 0; call < 400; call += 1) if ((await engine.decide(facts())).allowed) admitted += 1
    // About one request in five is counted, as five tokens. So 40 counted requests empty the bucket. Requests that are not counted always
    // pass.
    expect(admitted).toBeGreaterThan(300)
    expect(admitted).toBeLessThan(400)
  })

  it('of a blocked key deny what they count, and let the others pass', async () => {
    const drawn = [0, 0.5, 0.05, 0.9]
    const rule = 'rules: [{ name: some, key: ["header:x-key"], rate: 1/s, burst: 100, sample: 10 }]'
    const { engine } = bench(rule, { random: () => drawn.shift() ?? 0.5 })
    await engine.blockKey({ key: 'a' }, '1h')
    const outcomes: string[] = []
    for (let call = 0; call < 4; call += 1) outcomes.push((await engine.decide(facts({ headers: { 'x-key': 'a' } }))).outcome)
    expect(outcomes).toEqual(['denied', 'allowed', 'denied', 'allowed'])
  })

  it('never request more than a limit can hold, also where the caller names the cost', async () => {
    const { engine } = bench(RULES, { random: () => 0 })
    expect(await engine.decide(facts({ cost: 50 }))).toMatchObject({ allowed: true, limits: [{ name: 'some', remaining: 0 }, {}] })
    expect(await engine.decide(facts({ cost: 101 }))).toMatchObject({ outcome: 'impossible', limitName: 'some' })
  })

  it('are not marked where every request counts, and are explained', async () => {
    const { engine } = bench(RULES.replace('sample: 10', 'sample: 1'))
    expect((await engine.decide(facts())).probabilistic).toBeUndefined()
    expect((await bench(RULES).engine.explain(facts())).rules[1]).toMatchObject({ sample: 10, cost: 1 })
  })
})
