import { describe, expect, it } from 'vitest'
import { createEngine, type Engine, type EngineOptions } from '../../src/policy.ts'
import type { DecisionEvent } from '../../src/observe/events.ts'
import { parsePolicy } from '../../src/policy/parse.ts'
import { memoryStore } from '../../src/stores/memory/memory-store.ts'
import { bench, facts, TWO } from './bench.ts'

describe('the life of an engine', () => {
  it('reloads as one step, and keys keep what they had', async () => {
    const { engine, clock } = bench('rules: [{ name: a, key: [], rate: 1/day, burst: 10 }]')
    await engine.decide(facts({ cost: 8 }))
    const next = parsePolicy('version: 1\nrules: [{ name: a, key: [], rate: 1/s, burst: 100 }, { name: b, key: [], rate: 1/s, burst: 5 }]')
    engine.reload(next)
    expect(engine.policy).toBe(next)
    expect((await engine.decide(facts())).limits.map(({ name, remaining }) => [name, remaining])).toEqual([
      ['a', 1],
      ['b', 4],
    ])
    clock.advance(2_000)
    expect((await engine.peek(facts())).limits[0]?.remaining).toBe(3)
    expect(() => engine.reload(undefined as unknown as typeof next)).toThrow(expect.objectContaining({ code: 'INVALID_OPTIONS' }))
    expect(engine.policy).toBe(next)
  })

  it('reports each decision with its route to observers, and survives them', async () => {
    const events: DecisionEvent[] = []
    const broken = {
      onDecision() {
        throw new Error('broken')
      },
    }
    const { engine } = bench(TWO, { observers: [broken, { onDecision: (event) => events.push(event) }] })
    const decision = await engine.decide(facts({ route: '/api/:kind' }))
    await engine.peek(facts())
    await engine.decide(facts())
    expect(events.map(({ limiter, route }) => [limiter, route])).toEqual([
      ['policy', '/api/:kind'],
      ['policy', undefined],
    ])
    expect(events[0]?.decision).toBe(decision)
  })

  it('is closed for good, and leaves the store open', async () => {
    const { engine, store } = bench(TWO)
    await engine.decide(facts())
    await engine.close()
    expect(store.size).toBe(2)
    await expect(engine.decide(facts())).rejects.toMatchObject({ code: 'CLOSED' })
    await expect(engine.decideKey({ key: 'a' })).rejects.toMatchObject({ code: 'CLOSED' })
  })

  it('refuses unknown options, and a missing store or policy', () => {
    const good = { policy: parsePolicy(`version: 1\n${TWO}`), store: memoryStore() }
    const build =
      (options: object): (() => Engine) =>
      () =>
        createEngine(options as EngineOptions)
    expect(build({ ...good, stroe: 1 })).toThrow(/unknown option stroe; known are policy, store/)
    expect(build({ policy: good.policy })).toThrow(/store is undefined, expected a store/)
    expect(build({ store: good.store })).toThrow(/policy is missing/)
  })
})
