import { describe, expect, it } from 'vitest'
import { createLimiter } from '../../../src/create-limiter.ts'
import { tokenBucket } from '../../../src/algorithms/token-bucket.ts'
import { memoryStore } from '../../../src/stores/memory/memory-store.ts'
import { type CallGroup, type FailurePolicy, type Store, StoreFailure } from '../../../src/stores/store.ts'
import { withFallback } from '../../../src/stores/wrap/index.ts'

const limit = tokenBucket({ rate: '1/day', burst: 2 })
const failure = new StoreFailure('timeout', 'unknown', 'no answer')

function group(key: string, onFailure?: FailurePolicy): CallGroup {
  return {
    calls: [{ id: { scope: { text: 'f:' }, key }, limit, cost: 1_000_000, phase: 0 }],
    ...(onFailure === undefined ? {} : { onFailure }),
  }
}

/** A memory store behind a wire that fails while it is told to. */
function switchable(error: Error = failure): { readonly store: Store; fail: boolean } {
  const { consumeSync: _, ...inner } = memoryStore()
  const wire = { fail: true }
  const through =
    (verb: Store['consume']): Store['consume'] =>
    async (groups, options) => {
      if (wire.fail) throw error
      return verb(groups, options)
    }
  const store = {
    ...inner,
    capabilities: { ...inner.capabilities, sync: false },
    consume: through(inner.consume),
    peek: through(inner.peek),
  }
  return Object.assign(wire, { store })
}

describe('withFallback', () => {
  it.each([
    ['deny', { outcome: 'undecided', allowed: false, calls: [] }],
    ['allow', { outcome: 'undecided', allowed: true, calls: [] }],
    ['local', { outcome: 'allowed', allowed: true, calls: [{ remaining: 1 }] }],
  ] as const)('%s answers for a store that fails, and says so', async (policy, expected) => {
    const store = withFallback(switchable().store, { policy, local: memoryStore() })
    const [verdict] = await store.consume([group('k')])
    expect(verdict).toMatchObject({ ...expected, source: 'fallback', degraded: failure })
  })

  it('denies where nothing was chosen, and a group chooses for itself', async () => {
    const store = withFallback(switchable().store, { local: memoryStore() })
    const verdicts = await store.consume([group('k'), group('k', 'allow'), group('k', 'local')])
    expect(verdicts.map(({ outcome, allowed }) => [outcome, allowed])).toEqual([
      ['undecided', false],
      ['undecided', true],
      ['allowed', true],
    ])
  })

  it('the time of a decision nobody made is not invented', async () => {
    const [verdict] = await withFallback(switchable().store, { local: memoryStore() }).consume([group('k')])
    expect(verdict?.at).toBeNaN()
  })

  it('local counts on while the store is away, and the store is asked again at once when it is back', async () => {
    const remote = switchable()
    const store = withFallback(remote.store, { policy: 'local', local: memoryStore() })
    const outcomes: string[] = []
    for (let index = 0; index < 3; index += 1) outcomes.push((await store.consume([group('k')]))[0]?.outcome ?? '')
    expect(outcomes).toEqual(['allowed', 'allowed', 'denied'])
    remote.fail = false
    const [verdict] = await store.consume([group('k')])
    expect(verdict).toMatchObject({ outcome: 'allowed', source: 'store' })
    expect(verdict).not.toHaveProperty('degraded')
  })

  it('stands in for the groups that were not decided and leaves the others', async () => {
    const full = memoryStore({ maxKeys: 1 })
    const store = withFallback(full, { policy: 'allow', local: full })
    const verdicts = await store.consume([group('a'), group('b'), group('a')])
    expect(verdicts.map(({ outcome, allowed, source }) => [outcome, allowed, source])).toEqual([
      ['allowed', true, 'store'],
      ['undecided', true, 'fallback'],
      ['allowed', true, 'store'],
    ])
    expect(store.consumeSync?.(group('c', 'deny'))).toMatchObject({ outcome: 'undecided', allowed: false, degraded: { kind: 'memory' } })
  })

  it('a local store that is full itself refuses, and names the store that failed', async () => {
    const local = memoryStore({ maxKeys: 1 })
    const store = withFallback(switchable().store, { policy: 'local', local })
    await store.consume([group('a')])
    expect((await store.consume([group('b')]))[0]).toMatchObject({ outcome: 'undecided', allowed: false, degraded: failure })
  })

  it.each([
    ['deny', 'undecided', false],
    ['allow', 'undecided', true],
    ['local', 'allowed', true],
  ] as const)('%s: peek answers what check would', async (onStoreFailure, outcome, allowed) => {
    const limiter = createLimiter({ limit, store: switchable().store, onStoreFailure })
    for (let index = 0; index < 3; index += 1) {
      expect(await limiter.peek('k')).toMatchObject({ outcome, allowed, degraded: { kind: 'timeout' } })
    }
    expect(await limiter.check('k')).toMatchObject({ outcome, allowed })
  })

  it('lets an error through that is no failure of a store: it is a mistake', async () => {
    const store = withFallback(switchable(new TypeError('a bug')).store, { policy: 'allow', local: memoryStore() })
    await expect(store.consume([group('k')])).rejects.toThrow(TypeError)
  })
})
