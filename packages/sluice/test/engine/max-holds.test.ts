import { describe, expect, it } from 'vitest'
import { memoryStore } from '../../src/index.ts'
import { parsePolicy } from '../../src/policy/parse.ts'
import { bench, facts } from './bench.ts'

const RULES = `
reservations: { maxHolds: 2 }
rules:
  - { name: per-ip, key: ["ip:address"], rate: 1/h, burst: 100 }
  - { name: all, key: [], rate: 1/h, burst: 1000 }
`

describe('maxHolds of a policy', () => {
  it('denies a reservation of a key with as many open ones, with a reason of its own, and charges nothing', async () => {
    const { engine } = bench(RULES)
    const first = await engine.reserve(facts({ cost: 10 }))
    const second = await engine.reserve(facts({ cost: 10 }))
    const { decision } = await engine.reserve(facts({ cost: 10 }))
    expect(decision).toMatchObject({ outcome: 'denied', allowed: false, reason: 'holds', limitName: 'maxHolds', violated: [] })
    expect(decision.retryAfterMs).toBeUndefined()
    expect(decision.limits.map(({ name, remaining }) => [name, remaining])).toEqual([
      ['per-ip', 80],
      ['all', 980],
    ])
    expect((await engine.decide(facts())).outcome).toBe('allowed')
    await engine.settle(facts(), first.id, 1)
    expect((await engine.reserve(facts())).decision.outcome).toBe('allowed')
    await engine.cancel(facts(), second.id)
    expect((await engine.reserve(facts())).decision.outcome).toBe('allowed')
  })

  it('counts each key by itself, and not the requests of all, under a rule without parts in its key', async () => {
    const { engine } = bench(RULES)
    for (let client = 1; client < 9; client += 1) {
      expect((await engine.reserve(facts({ ip: `192.0.2.${client}` }))).decision.outcome).toBe('allowed')
    }
  })

  it('counts a hold until its end, and one that is extended until its new end', async () => {
    const { engine, clock } = bench(RULES)
    const { id } = await engine.reserve(facts(), { holdMs: 1_000 })
    await engine.reserve(facts(), { holdMs: 5_000 })
    await engine.extend(facts(), id, 5_000)
    clock.advance(4_999)
    expect((await engine.reserve(facts())).decision.reason).toBe('holds')
    clock.advance(1)
    expect((await engine.reserve(facts())).decision.outcome).toBe('allowed')
  })

  it('applies from the next reservation on after a reload', async () => {
    const { engine } = bench(RULES)
    await engine.reserve(facts())
    engine.reload(parsePolicy(`version: 1${RULES.replace('maxHolds: 2', 'maxHolds: 1')}`))
    expect((await engine.reserve(facts())).decision.reason).toBe('holds')
    engine.reload(parsePolicy(`version: 1${RULES.replace('reservations: { maxHolds: 2 }', '')}`))
    expect((await engine.reserve(facts())).decision.outcome).toBe('allowed')
  })

  it('does not count the slots of a rule of its name', async () => {
    const { engine } = bench(`
reservations: { maxHolds: 1 }
rules:
  - { name: maxHolds, key: ["ip:address"], algorithm: concurrency, limit: 2, hold: 60s }
`)
    await engine.decide(facts())
    expect((await engine.reserve(facts())).decision.outcome).toBe('allowed')
    expect((await engine.reserve(facts())).decision.outcome).toBe('denied')
  })

  it('is refused where the store has no holds', () => {
    const memory = memoryStore()
    const { groupOptions: _, ...capabilities } = memory.capabilities
    expect(() => bench(RULES, { store: { ...memory, capabilities } })).toThrow(
      'reservations.maxHolds is a concurrency, which its store (memory)',
    )
    const changes = memory.capabilities.changes.filter((kind) => kind !== 'settle')
    expect(() => bench(RULES, { store: { ...memory, capabilities: { ...memory.capabilities, changes } } })).toThrow('cannot settle')
  })
})
