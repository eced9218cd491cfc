import { describe, expect, it } from 'vitest'
import { tokenBucket } from '../../src/algorithms/token-bucket.ts'
import { withDividedLimit } from '../../src/stores/divided-limit.ts'
import { memoryStore } from '../../src/stores/memory/memory-store.ts'
import type { Call, Store } from '../../src/stores/store.ts'
import * as verbs from '../../src/testing/store-verbs.ts'
import { OwnStore } from './own-store.ts'

const limit = tokenBucket({ rate: '1/day', burst: 8 })
const call = (key: string, cost = 1): Call => ({ id: { scope: { text: 's:tb:' }, key }, limit, cost: cost * 1_000_000, phase: 0 })
const unavailable = { failure: { name: 'StoreFailure', kind: 'unavailable', executed: 'no' } }

describe('withDividedLimit', () => {
  it('grants the part by every verb, at once too, and says the count', async () => {
    const store = withDividedLimit(memoryStore(), 2)
    expect([store.name, store.nodes]).toEqual(['memory', 2])
    expect(store.decideNow?.({ calls: [call('k', 3)] })).toMatchObject({ outcome: 'allowed', calls: [{ remaining: 1 }] })
    expect(await verbs.peek(store, [{ calls: [call('k', 2)] }])).toMatchObject([{ outcome: 'denied' }])
    await verbs.adjust(store, [call('k')], [8_000_000])
    expect(await verbs.decide(store, [{ calls: [call('k', 4)] }, { calls: [call('k')] }])).toMatchObject([
      { outcome: 'allowed' },
      { outcome: 'denied' },
    ])
    await verbs.reset(store, [call('k').id])
    await verbs.block(store, [call('k').id], 1_000_000)
    expect(await verbs.decide(store, [{ calls: [call('k')] }])).toMatchObject([
      { outcome: 'denied', calls: [{ blockedFor: expect.any(Number), remaining: 4 }] },
    ])
    await store.ready()
    await store.close()
  })

  it('fails what the part can never grant, which is not impossible, and decides the other groups', async () => {
    const store = withDividedLimit(memoryStore(), 4)
    const groups = [3, 2, 9].map((cost) => ({ calls: [call('a', cost)] }))
    for (const charge of [false, true]) {
      const [beyond, fine, never] = await store.decide(groups, { charge })
      expect(beyond).toMatchObject(unavailable)
      expect(Object.keys(beyond ?? {})).toEqual(['failure'])
      expect(fine).toMatchObject({ outcome: 'allowed' })
      expect(never).toMatchObject({ outcome: 'impossible' })
    }
    const twice = (cost: number) => store.decide([{ calls: [call('c', cost), call('c', cost)] }])
    expect(await twice(1.5)).toMatchObject([unavailable])
    expect(await twice(4.5)).toMatchObject([{ outcome: 'impossible' }])
    expect(store.decideNow?.({ calls: [call('b', 3)] })).toMatchObject(unavailable)
    expect(store.decideNow?.({ calls: [call('b', 9)] })).toMatchObject({ outcome: 'impossible' })
    expect(store.decideNow?.({ calls: [call('b')] })).toMatchObject({ outcome: 'allowed', calls: [{ remaining: 1 }] })
  })

  it('decides what the whole limit cannot grant as impossible if nothing is divided', async () => {
    expect(await withDividedLimit(memoryStore(), 1).decide([{ calls: [call('k', 9)] }])).toMatchObject([{ outcome: 'impossible' }])
  })

  it('follows the count when it changes: what was used up under a smaller part stays used up (law 7)', async () => {
    let alive = 4
    const store = withDividedLimit(memoryStore(), () => alive)
    const outcomes = async (key: string, count: number): Promise<string[]> => {
      const verdicts = await verbs.decide(
        store,
        Array.from({ length: count }, () => ({ calls: [call(key)] })),
      )
      return verdicts.map(({ outcome }) => outcome)
    }
    expect(await outcomes('k', 3)).toEqual(['allowed', 'allowed', 'denied'])
    alive = 2
    expect(store.nodes).toBe(2)
    expect(await verbs.peek(store, [{ calls: [call('fresh', 4)] }])).toMatchObject([{ outcome: 'allowed' }])
    expect(await outcomes('k', 1)).toEqual(['denied'])
  })

  const counts: readonly (readonly [unknown, () => unknown])[] = [
    ...[0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '4', undefined].map((value) => [value, () => value] as const),
    [
      'an error',
      () => {
        throw new Error('cannot count')
      },
    ],
  ]
  it.each(counts)('grants nothing if the count is %s, charges nothing, and says no count', async (_, alive) => {
    const inner = memoryStore()
    const store = withDividedLimit(inner, alive as () => number)
    expect(await store.decide([{ calls: [call('k')] }])).toMatchObject([unavailable])
    expect(store.decideNow?.({ calls: [call('k')] })).toMatchObject(unavailable)
    expect(store.nodes).toBeNaN()
    expect(inner.size).toBe(0)
  })

  it('grants nothing if a part is nothing', async () => {
    const store = withDividedLimit(memoryStore(), () => 100_000_000)
    expect(await store.decide([{ calls: [call('k')] }])).toMatchObject([unavailable])
    expect(store.nodes).toBe(100_000_000)
  })

  it.each([0, 1.5, Number.NaN])('refuses a fixed count of %s', (nodes) => {
    expect(() => withDividedLimit(memoryStore(), nodes)).toThrow(expect.objectContaining({ code: 'INVALID_OPTIONS' }))
  })

  it('can what the store can, and no more', () => {
    const { decideNow: _, ...less } = memoryStore()
    const names = (store: Store): string[] => Object.keys(withDividedLimit(store, 1)).sort()
    const far: Store = { ...less, capabilities: { ...less.capabilities, sync: false } }
    expect(names(memoryStore()).filter((name) => !names(far).includes(name))).toEqual(['decideNow'])
    expect(withDividedLimit(far, 1).capabilities).toBe(far.capabilities)
  })

  it('divides a store that is a class', async () => {
    const store = withDividedLimit(new OwnStore(), 2)
    expect(store.decideNow?.({ calls: [call('k', 3)] })).toMatchObject({ outcome: 'allowed' })
    expect(await verbs.decide(store, [{ calls: [call('k', 3)] }])).toMatchObject([{ outcome: 'denied' }])
    await verbs.reset(store, [call('k').id])
    expect([store.name, store.laneOf?.([])]).toEqual(['own', 'own'])
    await store.ready()
    await store.close()
  })
})
