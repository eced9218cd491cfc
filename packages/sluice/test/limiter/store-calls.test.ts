import { describe, expect, it } from 'vitest'
import { tokenBucket } from '../../src/algorithms/token-bucket.ts'
import { createLimiter } from '../../src/create-limiter.ts'
import type { StoreEvent } from '../../src/observe/events.ts'
import { memoryStore } from '../../src/stores/memory/memory-store.ts'
import { remoteStore } from '../../src/stores/remote/remote-store.ts'
import { type Store, StoreFailure } from '../../src/stores/store.ts'
import { manualClock } from '../../src/time/manual.ts'
import { farStore } from '../stores/remote/far-store.ts'

/** A limiter of two calls an hour, and the events that its observers get for calls of the store. */
function bench(make: (clock: ReturnType<typeof manualClock>) => Store) {
  const clock = manualClock()
  const events: StoreEvent[] = []
  const failing = {
    onStoreCall: () => {
      throw new Error('an observer that fails')
    },
  }
  const observers = [failing, { onStoreCall: (event: StoreEvent) => events.push(event) }, { onDecision: () => {} }]
  const limit = tokenBucket({ rate: '1/h', burst: 2 })
  const limiter = createLimiter({ limit, store: make(clock), clock, observers })
  return { clock, limiter, operations: () => events.splice(0).map(({ operation, failure }) => [operation, failure]), events }
}

describe('onStoreCall', () => {
  it.each([
    ['in this process', (clock: ReturnType<typeof manualClock>) => memoryStore({ clock })],
    ['over a wire', (clock: ReturnType<typeof manualClock>) => farStore(memoryStore({ clock }), clock)],
  ])('reports each call of a store %s', async (_, make) => {
    const { limiter, operations } = bench(make)
    await limiter.ready()
    for (let index = 0; index < 3; index += 1) await limiter.check('k')
    await limiter.checkMany([{ key: 'a' }, { key: 'b' }])
    await limiter.peek('k')
    await limiter.reset('k')
    expect(operations()).toEqual(['ready', 'decide', 'decide', 'decide', 'decide', 'peek', 'change'].map((one) => [one, undefined]))
  })

  it('reports how long a call took and how it failed', async () => {
    const { clock, limiter, events } = bench((time) => {
      const far = farStore(memoryStore({ clock: time }), time)
      const late = async (): Promise<never> => {
        clock.advance(30)
        throw new StoreFailure('timeout', 'unknown', 'late')
      }
      return { ...far, decide: late, change: late, ready: late }
    })
    expect((await limiter.check('k')).outcome).toBe('undecided')
    await expect(limiter.block('k', 1_000)).rejects.toThrow('late')
    await expect(limiter.ready()).rejects.toThrow('late')
    const failed = { store: 'memory', durationMs: 30, failure: 'timeout', reason: 'late' }
    expect(events).toEqual(['decide', 'change', 'ready'].map((operation) => ({ ...failed, operation })))
  })

  it('reports the failure of one group among others', async () => {
    const { limiter, operations } = bench((clock) => farStore(memoryStore({ clock, maxKeys: 1 }), clock))
    await limiter.checkMany([{ key: 'a' }, { key: 'b' }])
    expect(operations()).toEqual([['decide', 'memory']])
  })

  it('reports nothing of what a ring decides without its store', async () => {
    const { limiter, operations } = bench((clock) => remoteStore(farStore(memoryStore({ clock }), clock), { clock }))
    const sources: string[] = []
    for (let index = 0; index < 5; index += 1) sources.push((await limiter.check('k')).source)
    expect(sources).toEqual(['store', 'store', 'store', 'denied-cache', 'denied-cache'])
    expect((await limiter.checkMany([{ key: 'k' }, { key: 'k' }])).map(({ source }) => source)).toEqual(['denied-cache', 'denied-cache'])
    expect(operations()).toEqual([1, 2, 3].map(() => ['decide', undefined]))
  })
})
