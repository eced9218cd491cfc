import { describe, expect, it } from 'vitest'
import { bench, facts } from './bench.ts'

const RULES = `
rules:
  - { name: at-once, key: ["ip:address"], algorithm: concurrency, limit: 1, hold: 60s }
  - { name: budget, key: ["ip:address"], rate: 1/h, burst: 30 }
`

describe('slots under a policy', () => {
  it('of a reservation are given back when it is settled', async () => {
    const { engine } = bench(RULES)
    const { decision, id } = await engine.reserve(facts(), { holdMs: 30_000 })
    expect(decision.outcome).toBe('allowed')
    expect(await engine.decide(facts())).toMatchObject({ outcome: 'denied', reason: 'concurrency', violated: ['at-once'] })
    expect(await engine.settle(facts(), id, 1)).toMatchObject({ status: 'settled' })
    expect((await engine.decide(facts())).outcome).toBe('allowed')
  })

  it('of a reservation that nobody settles are free when its hold ends', async () => {
    const { engine, clock } = bench(RULES)
    await engine.reserve(facts(), { holdMs: 30_000 })
    clock.advance(29_999)
    expect((await engine.decide(facts())).outcome).toBe('denied')
    clock.advance(1)
    expect((await engine.decide(facts())).outcome).toBe('allowed')
  })

  it('and other limits are listed in one order by every settlement, whatever was used', async () => {
    const { engine } = bench(`
rules:
  - { name: budget, key: ["ip:address"], rate: 10/h, burst: 30 }
  - { name: at-once, key: ["ip:address"], algorithm: concurrency, limit: 5, hold: 60s }
  - { name: daily, key: ["ip:address"], rate: 5/h, burst: 90 }
`)
    for (const used of [0, 0.000001, 1, undefined]) {
      const { id } = await engine.reserve(facts())
      const first = await engine.settle(facts(), id, used)
      expect(first.limits.map(({ name }) => name)).toEqual(['at-once', 'daily', 'budget'])
      expect((await engine.settle(facts(), id, 2)).limits).toEqual(first.limits)
    }
  })
})
