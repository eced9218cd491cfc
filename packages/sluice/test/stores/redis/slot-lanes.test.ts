import { describe, expect, it } from 'vitest'
import { memoryStore } from '../../../src/index.ts'
import { bySlot } from '../../../src/stores/redis/slots.ts'
import type { StateId } from '../../../src/stores/store.ts'
import * as verbs from '../../../src/testing/store-verbs.ts'
import { call, left, MICRO, nodes, SCOPE, slotOf, START, ten } from './slot-nodes.ts'

describe('a store by slots', () => {
  it('is as many lanes as nodes, and as slots where the node is not known', () => {
    const addresses: Record<number, string> = {
      [slotOf({ scope: SCOPE, key: 'a' })]: 'one:1',
      [slotOf({ scope: SCOPE, key: 'b' })]: 'one:1',
    }
    addresses[slotOf({ scope: SCOPE, key: 'c' })] = 'two:2'
    const { laneOf } = bySlot(memoryStore(), slotOf, (slot) => addresses[slot])
    const of = (...keys: string[]) => laneOf?.(keys.map((key) => ({ scope: SCOPE, key })))
    expect([of('a1'), of('b'), of('c'), of('d')]).toEqual(['one:1', 'one:1', 'two:2', slotOf({ scope: SCOPE, key: 'd' })])
    expect([of('a', 'b', 'a2'), of('a', 'c'), of('d', 'd2'), of('a', 'd')]).toEqual(['one:1', undefined, 100, undefined])
    expect(bySlot(memoryStore(), slotOf).laneOf?.([{ scope: SCOPE, key: 'a' }])).toBe(97)
  })

  it('makes changes of each slot in order, and says of each what became of it', async () => {
    const { store, sent } = nodes(new Set(['block:b']))
    const ids = ['a', 'b', 'a'].map((key) => ({ scope: SCOPE, key }))
    const results = await store.change(
      [
        ...ids.map((id) => ({ kind: 'block', id, micros: 5_000_000 }) as const),
        { kind: 'unblock', id: ids[0] as StateId },
        { kind: 'reset', id: { scope: SCOPE, key: 'c' } },
      ],
      { now: START },
    )
    expect(results.map(({ failure }) => failure?.kind)).toEqual([undefined, 'timeout', undefined, undefined, undefined])
    expect(sent.map(({ verb, keys }) => `${verb} ${keys.join()}`)).toEqual(['block+unblock a,a,a', 'block b', 'reset c'])
    expect(await verbs.decide(store, [{ calls: [call('a')] }], { now: START })).toMatchObject([{ outcome: 'allowed' }])
    expect(await store.change([])).toEqual([])
  })

  it('resets, blocks and adjusts slot by slot', async () => {
    const { store, sent } = nodes()
    const calls = ['a1', 'b1', 'a2'].map((key) => call(key, ten, 4))
    await verbs.decide(store, [{ calls }], { now: START })
    sent.length = 0
    await verbs.adjust(store, calls, [MICRO, 2 * MICRO, -MICRO], { now: START })
    expect([await left(store, 'a1'), await left(store, 'b1'), await left(store, 'a2')]).toEqual([7, 8, 5])
    await verbs.block(
      store,
      calls.map(({ id }) => id),
      1_000,
      { now: START },
    )
    const [blocked] = await verbs.peek(store, [{ calls: [call('b1')] }], { now: START })
    expect(blocked?.calls[0]).toMatchObject({ blockedFor: 1_000 })
    await verbs.reset(
      store,
      calls.map(({ id }) => id),
    )
    expect(sent.map(({ verb, keys }) => `${verb} ${keys.join()}`)).toEqual(
      'adjust a1,a2; adjust b1; block a1,a2; block b1; reset a1,a2; reset b1'.split('; '),
    )
  })
})
