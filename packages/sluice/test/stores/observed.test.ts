import { describe, expect, it } from 'vitest'
import { tokenBucket } from '../../src/algorithms/token-bucket.ts'
import type { StoreEvent } from '../../src/observe/events.ts'
import { memoryStore } from '../../src/stores/memory/memory-store.ts'
import { withObservers } from '../../src/stores/observed.ts'
import { type Call, type Store, StoreFailure } from '../../src/stores/store.ts'
import { manualClock } from '../../src/time/manual.ts'
import { OwnStore } from './own-store.ts'

const limit = tokenBucket({ rate: '1/s', burst: 1 })
const call = (key: string): Call => ({ id: { scope: { text: 's:tb:' }, key }, limit, cost: 1_000_000, phase: 0 })

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
  it('reports each call of the store and how long it took', async () => {
    const { clock, events, store } = observed(memoryStore())
    await store.decide([])
    await store.decide([], { charge: false })
    store.decideNow?.({ calls: [] })
    await store.change([])
    await store.ready()
    await store.close()
    expect(events.map(({ operation }) => operation)).toEqual(['decide', 'peek', 'decide', 'change', 'ready'])
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

  it('reports the failure of one group or change among others', async () => {
    const { events, store } = observed(memoryStore({ maxKeys: 1 }))
    await store.decide([{ calls: [call('a')] }])
    const groups = ['a', 'b'].map((key) => ({ calls: [call(key)] }))
    expect(await store.decide(groups)).toMatchObject([{ outcome: 'denied' }, { failure: { kind: 'memory' } }])
    expect(store.decideNow?.({ calls: [call('b')] })).toMatchObject({ failure: { kind: 'memory' } })
    await store.change([
      { kind: 'reset', id: call('c').id },
      { kind: 'block', id: call('c').id, micros: 1 },
    ])
    expect(events.map(({ operation, failure }) => [operation, failure])).toEqual([
      ['decide', undefined],
      ['decide', 'memory'],
      ['decide', 'memory'],
      ['change', 'memory'],
    ])
  })

  it('reports nothing of what a store decides now without a call of its server', () => {
    const { capabilities, ...inner } = memoryStore()
    const { events, store } = observed({ ...inner, capabilities: { ...capabilities, sync: false } })
    expect(store.decideNow?.({ calls: [call('k')] })).toMatchObject({ outcome: 'allowed' })
    expect(events).toEqual([])
  })

  it('can what the store can, and no more', async () => {
    const { decideNow: _, ...inner } = memoryStore()
    const far: Store = { ...inner, capabilities: { ...inner.capabilities, sync: false } }
    const names = (store: Store): string[] => Object.keys(withObservers(store, [])).sort()
    expect(names(memoryStore()).filter((name) => !names(far).includes(name))).toEqual(['decideNow'])
    const { events, store } = observed({ ...far, name: 'mine', laneOf: () => 'one', lease: async () => [] })
    expect(store.laneOf?.([])).toBe('one')
    expect(await store.lease?.([])).toEqual([])
    expect(events).toMatchObject([{ store: 'mine', operation: 'lease' }])
  })

  it('observes a store that is a class', async () => {
    const { events, store } = observed(new OwnStore())
    expect(store.decideNow?.({ calls: [call('k')] })).toMatchObject({ outcome: 'allowed' })
    expect(await store.decide([{ calls: [call('k')] }])).toMatchObject([{ outcome: 'denied' }])
    expect(await store.change([{ kind: 'reset', id: call('k').id }])).toEqual([{}])
    expect(store.laneOf?.([])).toBe('own')
    await store.ready()
    await store.close()
    expect(events.map(({ store: name, operation }) => `${name} ${operation}`)).toEqual([
      'own decide',
      'own decide',
      'own change',
      'own ready',
    ])
  })
})
