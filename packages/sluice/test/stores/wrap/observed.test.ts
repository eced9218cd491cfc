import { describe, expect, it } from 'vitest'
import { memoryStore } from '../../../src/stores/memory/memory-store.ts'
import type { StoreEvent } from '../../../src/observe/events.ts'
import { type Store, StoreFailure } from '../../../src/stores/store.ts'
import { withObservers } from '../../../src/stores/wrap/index.ts'
import { manualClock } from '../../../src/time/manual.ts'

function observed(store: Store) {
  const clock = manualClock()
  const events: StoreEvent[] = []
  const failing = {
    onStoreCall: () => {
      throw new Error('an observer that fails')
    },
  }
  return {
    clock,
    events,
    store: withObservers(store, [failing, { onStoreCall: (event) => events.push(event) }, { onDecision: () => {} }], clock),
  }
}

describe('withObservers', () => {
  it('tells each call of the store and how long it took', async () => {
    const { clock, events, store } = observed(memoryStore())
    await store.consume([])
    await store.peek([])
    store.consumeSync?.({ calls: [] })
    await store.reset([])
    await store.block?.([], null)
    await store.adjust?.([], [])
    await store.ready()
    await store.close()
    expect(events.map(({ operation }) => operation)).toEqual(['consume', 'peek', 'consume', 'reset', 'block', 'adjust', 'ready'])
    expect(events.every(({ store: name, durationMs, failure }) => name === 'memory' && durationMs === 0 && failure === undefined)).toBe(
      true,
    )
    const slow = observed({
      ...memoryStore({ clock }),
      ready: async () => {
        slow.clock.advance(30)
        throw new StoreFailure('timeout', 'unknown', 'late')
      },
    })
    await expect(slow.store.ready()).rejects.toThrow('late')
    expect(slow.events).toEqual([{ store: 'memory', operation: 'ready', durationMs: 30, failure: 'timeout' }])
  })

  it('can what the store can, and no more', () => {
    const { adjust: _, block: __, consumeSync: ___, ...less } = memoryStore()
    expect(Object.keys(withObservers(less as Store, [])).sort()).toEqual(
      Object.keys(withObservers(memoryStore(), []))
        .filter((name) => !['adjust', 'block', 'consumeSync'].includes(name))
        .sort(),
    )
  })
})
