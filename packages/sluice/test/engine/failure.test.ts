import { describe, expect, it } from 'vitest'
import { createEngine, type Engine, type EngineOptions } from '../../src/policy.ts'
import { parsePolicy } from '../../src/policy/parse.ts'
import { memoryStore } from '../../src/stores/memory/memory-store.ts'
import type { CallOptions } from '../../src/stores/store.ts'
import { manualClock } from '../../src/time/manual.ts'
import { bench, facts } from './bench.ts'
import { failingStore, remoteMemory } from '../remote-memory.ts'

describe('a store that cannot answer', () => {
  const rules = (...policies: string[]): string =>
    `rules:\n${policies.map((policy, index) => `  - { name: r${index}, key: ["ip:address"], rate: 1/s, burst: 1, onStoreFailure: ${policy} }`).join('\n')}`
  /** An engine whose store is full with the state of another client. So the store must refuse a new key. */
  const full = async (text: string, options: Partial<EngineOptions> = {}): Promise<Engine> => {
    const { engine } = bench(text, options, 1)
    await engine.decideKey({ key: 'first', limit: 'r0' })
    return engine
  }

  it.each([
    [['allow'], true],
    [['deny'], false],
  ])('with %j is undecided, allowed %s', async (policies, allowed) => {
    const engine = await full(rules(...policies))
    expect(await engine.decide(facts())).toMatchObject({
      outcome: 'undecided',
      allowed,
      source: 'fallback',
      limits: [],
      violated: [],
      degraded: { kind: 'memory', executed: 'no' },
    })
  })

  it.each([
    [['allow', 'deny'], 'undecided', false],
    [['allow', 'local'], 'allowed', true],
    [['local', 'deny', 'allow'], 'undecided', false],
  ])('with rules of %j follows the strictest', async (policies, outcome, allowed) => {
    const local = memoryStore({ clock: manualClock() })
    const engine = await full(rules(...policies), { local })
    expect(await engine.decide(facts())).toMatchObject({ outcome, allowed, degraded: { kind: 'memory' } })
  })

  it('is replaced by the local one, exactly and marked', async () => {
    const engine = await full(rules('local'), { local: memoryStore({ clock: manualClock() }) })
    expect(await engine.decide(facts())).toMatchObject({
      outcome: 'allowed',
      source: 'fallback',
      limits: [{ remaining: 0 }],
      degraded: { kind: 'memory' },
    })
    expect(await engine.decide(facts())).toMatchObject({
      outcome: 'denied',
      source: 'fallback',
      violated: ['r0'],
      degraded: { kind: 'memory' },
    })
  })

  it('has a memory store as its local fallback, unless it is in this process itself', async () => {
    const clock = manualClock()
    const policy = parsePolicy(`version: 1\n${rules('local')}`)
    const engine = createEngine({ policy, clock, store: failingStore() })
    expect(await engine.decide(facts())).toMatchObject({ outcome: 'allowed', source: 'fallback', degraded: { kind: 'connection' } })
    expect(await engine.decide(facts())).toMatchObject({ outcome: 'denied', source: 'fallback', violated: ['r0'] })
    const itself = await full(rules('local'))
    expect(await itself.decide(facts())).toMatchObject({ outcome: 'undecided', allowed: false, degraded: { kind: 'memory' } })
  })

  it('leaves the enforced answer alone when only a shadow fails', async () => {
    const text = `rules:\n  - { name: r0, key: [], rate: 1/s, burst: 9 }\n  - { name: s, key: ["ip:address"], rate: 1/s, burst: 1, mode: shadow }`
    const engine = await full(text)
    expect(await engine.decide(facts())).toMatchObject({
      outcome: 'allowed',
      source: 'store',
      shadow: [{ rule: 's', outcome: 'undecided' }],
    })
  })

  it.each(['allow', 'deny'])('O4: with rules in shadow alone the decision says that the store failed (%s)', async (policy) => {
    const engine = await full(`rules: [{ name: r0, key: ["ip:address"], rate: 1/s, burst: 1, mode: shadow, onStoreFailure: ${policy} }]`)
    expect(await engine.decide(facts())).toMatchObject({
      outcome: 'allowed',
      allowed: true,
      source: 'fallback',
      degraded: { kind: 'memory', executed: 'no' },
      shadow: [{ rule: 'r0', outcome: 'undecided' }],
    })
  })

  it('O4: with rules in shadow alone the decision says that a local store decided', async () => {
    const text = 'rules: [{ name: r0, key: ["ip:address"], rate: 1/s, burst: 1, mode: shadow, onStoreFailure: local }]'
    const engine = await full(text, { local: memoryStore({ clock: manualClock() }) })
    const shadow = (outcome: string): object => ({
      outcome: 'allowed',
      source: 'fallback',
      degraded: { kind: 'memory' },
      shadow: [{ outcome }],
    })
    expect(await engine.decide(facts())).toMatchObject(shadow('allowed'))
    expect(await engine.decide(facts())).toMatchObject(shadow('denied'))
  })

  it("R4: gets the policy's deadline, or the call's; only the built-in one may be extended", async () => {
    const clock = manualClock()
    const seen: (CallOptions | undefined)[] = []
    const memory = memoryStore({ clock })
    const decide = (groups: Parameters<typeof memory.decide>[0], options?: CallOptions) => {
      seen.push(options)
      return memory.decide(groups, options)
    }
    const over = (failure: string, store = remoteMemory(memory, { decide })) =>
      createEngine({ policy: parsePolicy(`version: 1\n${failure}\nrules: [{ name: a, key: [], rate: 1/s, burst: 9 }]`), clock, store })
    clock.advance(100)
    const stated = over('failure: { deadline: 20ms }')
    await stated.decide(facts())
    await stated.decide(facts(), { deadlineMs: 5 })
    await over('failure: { deadline: 50ms }').decide(facts())
    await over('').decide(facts())
    await over('').decide(facts(), { deadlineMs: 50 })
    // A store in this process answers at once.
    await over('', { ...memory, decide }).peek(facts())
    expect(seen).toEqual([
      { deadline: 120 },
      { deadline: 105 },
      { deadline: 150 },
      { deadline: 150, stretch: true },
      { deadline: 150 },
      { charge: false },
    ])
  })
})
