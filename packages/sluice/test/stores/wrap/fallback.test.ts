import { describe, expect, it } from 'vitest'
import { createLimiter } from '../../../src/create-limiter.ts'
import { tokenBucket } from '../../../src/algorithms/token-bucket.ts'
import { memoryStore } from '../../../src/stores/memory/memory-store.ts'
import { type CallGroup, type FailurePolicy, type Store, StoreFailure } from '../../../src/stores/store.ts'
import { withFallback, withDividedLimit } from '../../../src/stores/wrap/index.ts'

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

describe('withFallback to a store withDividedLimit', () => {
  const four = tokenBucket({ rate: '1/day', burst: 8 })
  const asking = (key: string, cost = 1): CallGroup => ({
    calls: [{ id: { scope: { text: 'f:tb:' }, key }, limit: four, cost: cost * 1_000_000, phase: 0 }],
  })
  const standing = (nodes: number | (() => number)) => {
    const remote = switchable()
    return { remote, store: withFallback(remote.store, { policy: 'local', local: withDividedLimit(memoryStore(), nodes) }) }
  }
  const outcomes = async (store: Store, key: string, count: number): Promise<string[]> => {
    const seen: string[] = []
    for (let index = 0; index < count; index += 1) seen.push((await store.consume([asking(key)]))[0]?.outcome ?? '')
    return seen
  }

  it('grants limit / nodes, says the count, and follows it when it changes', async () => {
    let alive = 4
    const { store } = standing(() => alive)
    expect(await outcomes(store, 'k', 3)).toEqual(['allowed', 'allowed', 'denied'])
    const [denied] = await store.consume([asking('k')])
    expect(denied).toMatchObject({ source: 'fallback', degraded: failure, nodes: 4, calls: [{ remaining: 0 }] })
    alive = 2
    const [more] = await store.peek([asking('fresh', 4)])
    expect(more).toMatchObject({ outcome: 'allowed', nodes: 2 })
    // What was used up under the smaller part is not there again (law 7).
    expect(await outcomes(store, 'k', 1)).toEqual(['denied'])
  })

  it('tells the count with the decision', async () => {
    const { remote } = standing(4)
    const limiter = createLimiter({
      limit: four,
      store: withFallback(remote.store, { policy: 'local', local: withDividedLimit(memoryStore(), 4) }),
    })
    expect(await limiter.check('k')).toMatchObject({ outcome: 'allowed', degraded: { kind: 'timeout', nodes: 4 } })
    const whole = createLimiter({ limit: four, store: remote.store, onStoreFailure: 'local' })
    expect((await whole.check('k')).degraded).toEqual({ kind: 'timeout', executed: 'unknown', message: 'no answer' })
  })

  it('does not know what the part can never grant: nothing passes, and it is not impossible', async () => {
    const { store } = standing(4)
    expect((await store.consume([asking('k', 3)]))[0]).toMatchObject({ outcome: 'undecided', allowed: false, nodes: 4, degraded: failure })
    expect((await store.consume([asking('k', 9)]))[0]).toMatchObject({ outcome: 'impossible', nodes: 4 })
    expect(await outcomes(store, 'k', 1)).toEqual(['allowed'])
  })

  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, 100_000_000])('lets nothing pass where the count is %s', async (alive) => {
    expect((await standing(() => alive).store.consume([asking('k')]))[0]).toMatchObject({ outcome: 'undecided', allowed: false })
  })

  it.each([0, 1.5, Number.NaN])('refuses a fixed count of %s', (nodes) => {
    expect(() => standing(nodes)).toThrow(expect.objectContaining({ code: 'INVALID_OPTIONS' }))
  })
})
