import { describe, expect, it } from 'vitest'
import { tokenBucket } from '../../../src/algorithms/token-bucket.ts'
import { memoryStore } from '../../../src/stores/memory/memory-store.ts'
import type { Call, Store } from '../../../src/stores/store.ts'
import { withDividedLimit } from '../../../src/stores/wrap/index.ts'

const limit = tokenBucket({ rate: '1/day', burst: 8 })
const call = (key: string, cost = 1): Call => ({ id: { scope: { text: 's:tb:' }, key }, limit, cost: cost * 1_000_000, phase: 0 })

describe('withDividedLimit', () => {
  it('grants the part by every verb, at once too, and tells the count', async () => {
    const store = withDividedLimit(memoryStore(), 2)
    expect(store.consumeSync?.({ calls: [call('k', 3)] })).toMatchObject({ outcome: 'allowed', nodes: 2, calls: [{ remaining: 1 }] })
    expect(await store.peek([{ calls: [call('k', 2)] }])).toMatchObject([{ outcome: 'denied', nodes: 2 }])
    await store.adjust?.([call('k')], [8_000_000])
    expect(await store.consume([{ calls: [call('k', 4)] }, { calls: [call('k')] }])).toMatchObject([
      { outcome: 'allowed', nodes: 2 },
      { outcome: 'denied', nodes: 2 },
    ])
    await store.reset([call('k').id])
    await store.block?.([call('k').id], 1_000_000)
    expect(await store.consume([{ calls: [call('k')] }])).toMatchObject([{ outcome: 'denied', calls: [{ blocked: true, remaining: 4 }] }])
    await store.ready()
    await store.close()
  })

  it('does not know what the part can never grant, and decides the groups beside it', async () => {
    const store = withDividedLimit(memoryStore(), 4)
    const [beyond, fine, never] = await store.consume([{ calls: [call('a', 3)] }, { calls: [call('a', 2)] }, { calls: [call('a', 9)] }])
    expect(beyond).toMatchObject({
      outcome: 'undecided',
      allowed: false,
      calls: [],
      nodes: 4,
      degraded: { kind: 'unavailable', executed: 'no' },
    })
    expect(fine).toMatchObject({ outcome: 'allowed' })
    expect(never).toMatchObject({ outcome: 'impossible' })
    const twice = (cost: number) => store.consume([{ calls: [call('c', cost), call('c', cost)] }])
    expect(await twice(1.5)).toMatchObject([{ outcome: 'undecided' }])
    expect(await twice(4.5)).toMatchObject([{ outcome: 'impossible' }])
    expect(store.consumeSync?.({ calls: [call('b', 3)] })).toMatchObject({ outcome: 'undecided', allowed: false })
  })

  it('can what the store can, and no more', () => {
    const { adjust: _, block: __, consumeSync: ___, ...less } = memoryStore()
    const names = (store: Store): string[] => Object.keys(withDividedLimit(store, 1)).sort()
    expect(names(memoryStore()).filter((name) => !names(less).includes(name))).toEqual(['adjust', 'block', 'consumeSync'])
  })
})
