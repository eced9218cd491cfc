import { describe, expect, it } from 'vitest'
import { fixedWindow, memoryStore, slidingWindowLog, tokenBucket } from '../../../src/index.ts'
import { seeded } from '../../../src/testing/random.ts'
import { bySlot } from '../../../src/stores/redis/slots.ts'
import { type Decided, type Store, StoreFailure } from '../../../src/stores/store.ts'
import * as verbs from '../../../src/testing/store-verbs.ts'
import { call, five, left, MICRO, nodes, slotOf, START, ten } from './slot-nodes.ts'

const hundred = tokenBucket({ rate: '1/s', burst: 100 })

describe('a store by slots', () => {
  it('says that only groups of one slot are one call', () => {
    expect(nodes().store.capabilities.atomicBatch).toBe('same-slot')
  })

  it('sends groups of one slot together, and slots at the same time', async () => {
    const { store, sent } = nodes()
    const groups = ['a1', 'b1', 'a2', 'b2', 'a1'].map((key) => ({ calls: [call(key), call(`${key[0]}x`)] }))
    const verdicts = await verbs.decide(store, groups, { now: START })
    expect(sent).toEqual([
      { verb: 'decide', keys: ['a1', 'ax', 'a2', 'ax', 'a1', 'ax'] },
      { verb: 'decide', keys: ['b1', 'bx', 'b2', 'bx'] },
    ])
    expect(verdicts.map(({ calls }) => calls.map(({ remaining }) => remaining))).toEqual([
      [9, 9],
      [9, 9],
      [9, 8],
      [9, 8],
      [8, 7],
    ])
  })

  it('calls the most restrictive slot first: the least rate per cost', async () => {
    const { store, sent } = nodes()
    await verbs.decide(store, [{ calls: [call('a', ten), call('b', five), call('c', ten, 5)] }], { now: START })
    expect(sent.map(({ keys }) => keys)).toEqual([['c'], ['b'], ['a']])
  })

  it('charges all or nothing, and answers each call in its place', async () => {
    const { store } = nodes()
    const group = (cost: number) => ({ calls: [call('a', ten, cost), call('b', five), call('a2', ten), call('c', ten)] })
    const [first] = await verbs.decide(store, [group(2)], { now: START })
    expect(first).toMatchObject({ outcome: 'allowed', at: START })
    expect(first?.calls.map(({ remaining }) => remaining)).toEqual([8, 4, 9, 9])
    const [second] = await verbs.decide(store, [{ calls: [call('b', five, 4), call('a', ten, 9), call('c', ten)] }], { now: START })
    expect(second).toMatchObject({ outcome: 'denied' })
    // No limit was charged, and no number of the verdict counts the costs of this group.
    expect(second?.calls.map(({ outcome, remaining, retryAfter }) => [outcome, remaining, retryAfter])).toEqual([
      ['allowed', 4, 0],
      ['denied', 8, 100_000],
      ['allowed', 9, 0],
    ])
    expect([await left(store, 'a'), await left(store, 'b', five), await left(store, 'c')]).toEqual([8, 4, 9])
  })

  it.each([
    ['token bucket', ten],
    ['fixed window', fixedWindow({ limit: 10, window: '1m' })],
    ['sliding window log', slidingWindowLog({ limit: 10, window: '1m' })],
  ])('gives back exactly what a %s was charged when a later slot denies', async (_, limit) => {
    const { store, sent } = nodes()
    await verbs.decide(store, [{ calls: [call('b', five, 5), call('a', limit, 3)] }], { now: START })
    const before = await verbs.peek(store, [{ calls: [call('a', limit)] }], { now: START })
    sent.length = 0
    // The Cluster slot of a is more restrictive for this group, so it is charged first. b has no tokens left.
    const [verdict] = await verbs.decide(store, [{ calls: [call('a', limit, 7), call('b', five, 1)] }], { now: START })
    expect(verdict?.calls.map(({ outcome }) => outcome)).toEqual(['allowed', 'denied'])
    expect(sent.map(({ verb, keys }) => `${verb} ${keys.join()}`)).toEqual(['decide a', 'decide b', 'adjust a', 'decide a,a'])
    expect(await verbs.peek(store, [{ calls: [call('a', limit)] }], { now: START })).toEqual(before)
  })

  it('a cost above a capacity anywhere is impossible, and nothing is kept', async () => {
    const { store } = nodes()
    const [verdict] = await verbs.decide(store, [{ calls: [call('a'), call('b', five, 6), call('c')] }], { now: START })
    expect(verdict).toMatchObject({
      outcome: 'impossible',
      calls: [{ outcome: 'allowed' }, { outcome: 'impossible' }, { outcome: 'allowed' }],
    })
    expect(await left(store, 'a')).toBe(10)
  })

  it('decides many groups over the same slots in as many calls as one, each slot in order', async () => {
    const { store, sent } = nodes()
    const groups = ['1', '2', '3', '4'].map((user) => ({ calls: [call('all', ten, 3), call(`b${user}`, five, 3)] }))
    const verdicts = await verbs.decide(store, groups, { now: START })
    expect(verdicts.map(({ outcome }) => outcome)).toEqual(['allowed', 'allowed', 'allowed', 'denied'])
    expect(sent.map(({ verb, keys }) => `${verb} ${keys.join()}`)).toEqual([
      'decide b1,b2,b3,b4',
      'decide all,all,all,all',
      'adjust b4',
      'decide b4,b4',
    ])
    expect(await left(store, 'b4', five)).toBe(5)
  })

  it('one of two groups that would fit alone passes, never both', async () => {
    const { store } = nodes()
    const groups = [{ calls: [call('a', five, 3), call('b', ten, 4)] }, { calls: [call('b', ten, 8), call('a', five, 4)] }]
    const verdicts = await verbs.decide(store, groups, { now: START })
    expect(verdicts.filter(({ outcome }) => outcome === 'allowed').length).toBeLessThanOrEqual(1)
    const passed = verdicts.findIndex(({ outcome }) => outcome === 'allowed')
    const taken = [
      [3, 4],
      [4, 8],
      [0, 0],
    ].at(passed === -1 ? 2 : passed) as [number, number]
    expect([await left(store, 'a', five), await left(store, 'b')]).toEqual([5 - taken[0], 10 - taken[1]])
  })

  it('under many callers at once, what was admitted is what was charged, in every slot', async () => {
    const { inner } = nodes()
    const random = seeded(11)
    const later = async (): Promise<void> => {
      for (let turns = Math.floor(random() * 4); turns > 0; turns -= 1) await new Promise((resolve) => setImmediate(resolve))
    }
    const slow: Store = {
      ...inner,
      decide: async (groups, options) => (await later(), inner.decide(groups, options)),
      change: async (...args) => (await later(), inner.change(...args)),
    }
    const store = bySlot(slow, slotOf)
    const keys = ['a', 'b', 'c', 'd']
    const taken = new Map(keys.map((key) => [key, 0]))
    const decide = async (): Promise<void> => {
      const calls = keys.filter(() => random() < 0.6).map((key) => call(key, hundred, 1 + Math.floor(random() * 5)))
      const [verdict] = await verbs.decide(store, [{ calls: calls.length === 0 ? [call('a', hundred)] : calls }], { now: START })
      if (verdict?.outcome !== 'allowed') return
      const charged = calls.length === 0 ? [call('a', hundred)] : calls
      for (const { id, cost } of charged) taken.set(id.key, (taken.get(id.key) as number) + cost / MICRO)
    }
    await Promise.all(Array.from({ length: 300 }, decide))
    for (const key of keys) {
      expect(taken.get(key)).toBeLessThanOrEqual(100)
      expect(await left(store, key, hundred)).toBe(100 - (taken.get(key) as number))
    }
    expect(Math.max(...taken.values())).toBeGreaterThan(90)
  })

  it('peeks at groups as decide would answer them one after another', async () => {
    const { store } = nodes()
    const groups = [
      { calls: [call('a', ten, 6), call('b')] },
      { calls: [call('b', ten, 10), call('a', ten, 4)] },
      { calls: [call('a', ten, 4), call('c')] },
      { calls: [call('a')] },
    ]
    const looked = await verbs.peek(store, groups, { now: START })
    expect(looked.map(({ outcome }) => outcome)).toEqual(['allowed', 'denied', 'allowed', 'denied'])
    for (const [index, group] of groups.entries()) {
      // What is left differs: a peek reports it uncharged.
      const said = ({ outcome, calls }: Decided) => [outcome, calls.map((one) => [one.outcome, one.retryAfter])]
      expect((await verbs.decide(store, [group], { now: START })).map(said)).toEqual([said(looked[index] as Decided)])
    }
  })

  it('a slot that fails takes only its own groups along', async () => {
    const { store } = nodes(new Set(['decide:b', 'peek:b']))
    const groups = [{ calls: [call('a')] }, { calls: [call('b')] }, { calls: [call('c'), call('b')] }]
    for (const charge of [true, false]) {
      expect(await store.decide(groups, { now: START, charge })).toMatchObject([
        { outcome: 'allowed' },
        { failure: { kind: 'timeout' } },
        { failure: { kind: 'timeout' } },
      ])
    }
  })

  it('what was charged before a slot failed is given back, and the failure says that this is not sure', async () => {
    const { store, sent } = nodes(new Set(['decide:b']))
    const failed = verbs.decide(store, [{ calls: [call('a', five), call('b')] }], { now: START })
    await expect(failed).rejects.toMatchObject({ name: 'StoreFailure', kind: 'timeout', executed: 'unknown' })
    expect(sent.map(({ verb, keys }) => `${verb} ${keys.join()}`)).toEqual(['decide a', 'decide b', 'adjust a'])
    expect(await left(store, 'a', five)).toBe(5)
  })

  it('where nothing was charged, the failure is handed on as it is', async () => {
    const { store } = nodes(new Set(['decide:a', 'decide:b']))
    await expect(verbs.decide(store, [{ calls: [call('a', five), call('b')] }], { now: START })).rejects.toMatchObject({ executed: 'no' })
  })

  it('a denial whose charges could not be given back is a failure, not a denial', async () => {
    const { store } = nodes(new Set(['adjust:a']))
    await verbs.decide(store, [{ calls: [call('b', ten, 10)] }], { now: START })
    const failed = verbs.decide(store, [{ calls: [call('a', five), call('b')] }], { now: START })
    await expect(failed).rejects.toMatchObject({ name: 'StoreFailure', kind: 'timeout' })
  })

  it('a group whose later slot is full has charged nothing, and fails as that slot says', async () => {
    const full = new StoreFailure('memory', 'no', 'full')
    const memory = memoryStore()
    const inner: Store = {
      ...memory,
      decide: async (groups, options) => {
        const isFull = groups.some(({ calls }) => calls.some(({ id }) => id.key === 'b'))
        return isFull ? groups.map(() => ({ failure: full })) : memory.decide(groups, options)
      },
    }
    const store = bySlot(inner, slotOf)
    const [verdict] = await store.decide([{ calls: [call('a', five), call('b')] }], { now: START })
    expect(verdict?.failure).toBe(full)
    expect(await left(store, 'a', five)).toBe(5)
  })

  it('a call of which no slot executed anything fails whole, so that it may be sent again', async () => {
    const { store } = nodes(new Set(['decide:a', 'decide:b']))
    const groups = [{ calls: [call('a')] }, { calls: [call('b')] }]
    await expect(store.decide(groups, { now: START })).rejects.toMatchObject({ kind: 'timeout', executed: 'no' })
  })
})
