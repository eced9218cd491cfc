import { describe, expect, it } from 'vitest'
import { createEngine, type Engine, type EngineOptions } from '../../src/policy.ts'
import { parsePolicy } from '../../src/policy/parse.ts'
import { memoryStore } from '../../src/stores/memory/memory-store.ts'
import { type Store, StoreFailure } from '../../src/stores/store.ts'
import { withFallback } from '../../src/stores/wrap/fallback.ts'
import { manualClock } from '../../src/time/manual.ts'
import { bench, facts } from './bench.ts'

describe('a store that cannot answer', () => {
  const rules = (...policies: string[]): string =>
    `rules:\n${policies.map((policy, index) => `  - { name: r${index}, key: ["ip:address"], rate: 1/s, burst: 1, onStoreFailure: ${policy} }`).join('\n')}`
  /** Full with another client's states, so that it must refuse a new one. */
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

  it('is stood in for by the local one, exactly and marked', async () => {
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

  it('may be wrapped outside: what the wrapper decided stands', async () => {
    const clock = manualClock()
    const gone: Store = {
      ...memoryStore({ clock }),
      capabilities: { clock: 'server', atomicBatch: 'any', sync: false },
      consume: () => Promise.reject(new StoreFailure('connection', 'no', 'refused')),
    }
    const policy = parsePolicy(`version: 1\n${rules('local')}`)
    const wrapped = createEngine({ policy, clock, store: withFallback(gone, { local: memoryStore({ clock }) }) })
    expect(await wrapped.decide(facts())).toMatchObject({ outcome: 'allowed', source: 'fallback', degraded: { kind: 'connection' } })
    expect(await wrapped.decide(facts())).toMatchObject({ outcome: 'denied', source: 'fallback' })
    const bare = createEngine({ policy, clock, store: gone })
    expect(await bare.decide(facts())).toMatchObject({ outcome: 'allowed', source: 'fallback', degraded: { kind: 'connection' } })
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

  it('O4: with rules in shadow alone the decision says that a local store stood in', async () => {
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

  it("is given the policy's deadline, or the call's, on a server's clock only", async () => {
    const clock = manualClock()
    const seen: unknown[] = []
    const memory = memoryStore({ clock })
    const watched = (kind: 'caller' | 'server'): Store => ({
      ...memory,
      capabilities: { ...memory.capabilities, clock: kind },
      consume: (groups, options) => {
        seen.push(options?.deadline)
        return memory.consume(groups, options)
      },
    })
    const policy = parsePolicy('version: 1\nfailure: { deadline: 20ms }\nrules: [{ name: a, key: [], rate: 1/s, burst: 9 }]')
    clock.advance(100)
    const remote = createEngine({ policy, clock, store: watched('server') })
    await remote.decide(facts())
    await remote.decide(facts(), { deadlineMs: 5 })
    await createEngine({ policy, clock, store: watched('caller') }).decide(facts())
    expect(seen).toEqual([120, 105, undefined])
  })
})
