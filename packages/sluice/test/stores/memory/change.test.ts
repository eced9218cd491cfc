import { describe, expect, it } from 'vitest'
import { tokenBucket } from '../../../src/algorithms/token-bucket.ts'
import { memoryStore } from '../../../src/stores/memory/memory-store.ts'
import type { Call, Change } from '../../../src/stores/store.ts'
import * as verbs from '../../../src/testing/store-verbs.ts'
import { manualClock } from '../../../src/time/manual.ts'

const limit = tokenBucket({ rate: '1/h', burst: 10 })
const call = (key: string): Call => ({ id: { scope: { text: 'c:tb:' }, key }, limit, cost: 1_000_000, phase: 0 })
const adjust = (key: string, tokens: number): Change => ({ kind: 'adjust', call: call(key), amount: tokens * 1_000_000 })
const block = (key: string, micros = 60_000_000): Change => ({ kind: 'block', id: call(key).id, micros })
const reset = (key: string): Change => ({ kind: 'reset', id: call(key).id })
const [made, full] = [{}, { failure: expect.objectContaining({ kind: 'memory', executed: 'no' }) }]

describe('changes of a memory store', () => {
  const remaining = async (store: ReturnType<typeof memoryStore>, key: string): Promise<number | undefined> =>
    (await verbs.peek(store, [{ calls: [call(key)] }]))[0]?.calls[0]?.remaining

  it('that adjust neighbouring states find room for all, or none is made; the others are made', async () => {
    const store = memoryStore({ maxKeys: 2, clock: manualClock() })
    const changes = [adjust('a', -2), reset('z'), adjust('a', -1), adjust('b', -1), adjust('c', -1), adjust('a', 1), block('b'), block('c')]
    expect(await store.change(changes)).toEqual([made, made, full, full, full, full, made, full])
    expect(await remaining(store, 'a')).toBe(8)
    expect(store.decideNow({ calls: [call('b')] })).toMatchObject({ outcome: 'denied', calls: [{ blockedFor: 60_000_000 }] })
    expect(store.size).toBe(2)
  })

  it('need room only for what they add: not for a refund, nor twice for one state, nor after a reset', async () => {
    const store = memoryStore({ maxKeys: 1, clock: manualClock() })
    expect(await store.change([adjust('a', 5), adjust('b', 5)])).toEqual([made, made])
    expect(store.size).toBe(0)
    expect(await store.change([adjust('a', -1), adjust('a', -2), reset('a'), adjust('b', -4)])).toEqual([made, made, made, made])
    expect(await remaining(store, 'b')).toBe(6)
  })

  it('do not count on the place of an expired state that is dropped for another', async () => {
    const clock = manualClock()
    const store = memoryStore({ maxKeys: 1, clock })
    await store.change([adjust('a', -1)])
    clock.advance(3_600_000)
    expect(await store.change([adjust('a', -1), adjust('b', -1)])).toEqual([full, full])
    expect(store.size).toBeLessThanOrEqual(1)
    expect(await store.change([adjust('b', -1)])).toEqual([made])
  })

  it('of a kind that it does not know fail, and do nothing', async () => {
    const store = memoryStore()
    await store.change([adjust('a', -5)])
    const results = await store.change([{ kind: 'unheard-of', id: call('a').id } as never, adjust('a', -1)])
    expect(results).toEqual([{ failure: expect.objectContaining({ kind: 'setup', executed: 'no' }) }, made])
    expect(await remaining(store, 'a')).toBe(4)
  })
})
