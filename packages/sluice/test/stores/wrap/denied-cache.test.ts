import { describe, expect, it } from 'vitest'
import type { AnyLimit } from '../../../src/algorithms/algorithm.ts'
import { fixedWindow } from '../../../src/algorithms/fixed-window.ts'
import { tokenBucket } from '../../../src/algorithms/token-bucket.ts'
import { memoryStore } from '../../../src/stores/memory/memory-store.ts'
import { type Call, type GroupVerdict, type Store, StoreFailure } from '../../../src/stores/store.ts'
import { type DeniedCacheOptions, withDeniedCache } from '../../../src/stores/wrap/index.ts'
import { manualClock } from '../../../src/time/manual.ts'
import { farStore } from './far-store.ts'

const ten = tokenBucket({ rate: '10/s', burst: 10 })
const scopes = { tb: { text: 'd:tb:' }, fw: { text: 'd:fw:' } }
const call = (key: string, cost = 1, limit: AnyLimit = ten): Call => ({
  id: { scope: scopes[limit.algorithm.tag as 'tb' | 'fw'], key },
  limit,
  cost: cost * 1_000_000,
  phase: 0,
})

function bench(options: DeniedCacheOptions = {}, change: (store: Store) => Store = (store) => store) {
  const clock = manualClock()
  let slept = 0
  let asked = 0
  const timed = { ...clock, wall: () => clock.now() / 1_000 + slept }
  const inner = change(farStore(memoryStore({ clock }), clock))
  const store = withDeniedCache(
    { ...inner, consume: (groups, callOptions) => ((asked += groups.length), inner.consume(groups, callOptions)) },
    { clock: timed, ...options },
  )
  const ask = async (...calls: Call[]): Promise<GroupVerdict> => (await store.consume([{ calls }]))[0] as GroupVerdict
  return {
    clock,
    store,
    inner,
    ask,
    sleep: (ms: number) => (slept += ms),
    /** Groups that reached the store since the last time. */
    asked: () => {
      const count = asked
      asked = 0
      return count
    },
  }
}

describe('withDeniedCache', () => {
  it('says at once what it remembers, and otherwise nothing', async () => {
    const { store, ask, asked, clock } = bench()
    await ask(call('k', 10))
    expect(store.consumeHere?.({ calls: [call('k')] })).toBeUndefined()
    const denied = await ask(call('k'))
    asked()
    clock.advance(40)
    expect(store.consumeHere?.({ calls: [call('k')] })).toEqual(await ask(call('k')))
    expect(store.consumeHere?.({ calls: [call('k')] })).toMatchObject({ source: 'denied-cache', at: denied.at + 40_000 })
    expect(store.consumeHere?.({ calls: [call('k', 2)] })).toBeUndefined()
    expect(store.consumeHere?.({ calls: [] })).toBeUndefined()
    clock.advance(60)
    expect(store.consumeHere?.({ calls: [call('k')] })).toBeUndefined()
    expect(asked()).toBe(0)
  })

  it('answers until waiting is enough and not a microsecond longer, with waits that grow shorter', async () => {
    const { ask, asked, clock } = bench()
    await ask(call('k', 10))
    const first = await ask(call('k', 5))
    expect(first).toMatchObject({ outcome: 'denied', source: 'store', calls: [{ retryAfter: 500_000 }] })
    asked()
    clock.advance(123.456)
    const later = await ask(call('k', 5))
    expect(later).toEqual({
      outcome: 'denied',
      allowed: false,
      at: first.at + 123_456,
      retryAfter: 376_544,
      source: 'denied-cache',
      calls: [{ outcome: 'denied', retryAfter: 376_544, remaining: 0, replenishAfter: 0, resetAfter: 876_544 }],
    })
    clock.advance(376.543)
    expect(await ask(call('k', 5))).toMatchObject({ source: 'denied-cache', calls: [{ retryAfter: 1 }] })
    expect(asked()).toBe(0)
    clock.advance(0.001)
    expect(await ask(call('k', 5))).toMatchObject({ outcome: 'allowed', source: 'store' })
  })

  it('counts from before the store was asked, so that a long way makes nobody wait longer', async () => {
    const clock = manualClock()
    const far = farStore(memoryStore({ clock }), clock)
    let asked = 0
    const slow = {
      ...far,
      consume: async (...given: Parameters<Store['consume']>) => {
        asked += 1
        clock.advance(40)
        const verdicts = await far.consume(...given)
        clock.advance(40)
        return verdicts
      },
    }
    const store = withDeniedCache(slow, { clock })
    const ask = async (cost: number): Promise<GroupVerdict> => (await store.consume([{ calls: [call('k', cost)] }]))[0] as GroupVerdict
    await ask(10)
    // 80 ms of the time it takes to refill one token are over when the answer is heard, 40 of them on the way.
    const denied = await ask(2)
    const enoughAt = denied.at + (denied.calls[0]?.retryAfter as number)
    expect(asked).toBe(2)
    expect((await ask(2)).source).toBe('denied-cache')
    expect(clock.now()).toBeLessThan(enoughAt)
    clock.advance((enoughAt - clock.now()) / 1_000 - 39)
    expect((await ask(2)).outcome).toBe('allowed')
  })

  it('tells costs, limits and keys apart, and asks for what it was not told', async () => {
    const { ask, asked } = bench()
    await ask(call('k', 10))
    await ask(call('k', 2))
    asked()
    await ask(call('k', 3))
    await ask(call('other', 2))
    await ask(call('k', 2, tokenBucket({ rate: '10/s', burst: 10 })))
    expect(asked()).toBe(3)
    await ask(call('k', 2))
    await ask(call('k', 3))
    expect(asked()).toBe(0)
  })

  it('answers a group as a whole, until the first of its denying calls could pass', async () => {
    const { ask, asked, clock } = bench()
    const window = fixedWindow({ limit: 1, window: '1s' })
    const group = [call('global'), call('k', 2), call('k', 1, window)]
    await ask(call('k', 9), call('k', 1, window))
    expect((await ask(...group)).calls.map(({ outcome }) => outcome)).toEqual(['allowed', 'denied', 'denied'])
    asked()
    clock.advance(99.999)
    expect(await ask(...group)).toMatchObject({
      source: 'denied-cache',
      calls: [{ outcome: 'allowed' }, { retryAfter: 1 }, { outcome: 'denied' }],
    })
    await ask(...group.slice(1))
    await ask(...group.slice().reverse())
    expect(asked()).toBe(2)
    clock.advance(0.001)
    expect(await ask(...group)).toMatchObject({ source: 'store' })
  })

  it('asks only for the others where several questions come at once', async () => {
    const { store, ask, asked } = bench()
    await ask(call('k', 10))
    await ask(call('k', 4))
    asked()
    const verdicts = await store.consume([{ calls: [call('a')] }, { calls: [call('k', 4)] }, { calls: [call('b')] }])
    expect(verdicts.map(({ outcome, source }) => [outcome, source])).toEqual([
      ['allowed', 'store'],
      ['denied', 'denied-cache'],
      ['allowed', 'store'],
    ])
    expect(asked()).toBe(2)
    expect(await store.consume([{ calls: [call('k', 4)] }, { calls: [call('k', 4)] }])).toMatchObject([
      { source: 'denied-cache' },
      { source: 'denied-cache' },
    ])
    expect(asked()).toBe(0)
    await store.consume([{ calls: [call('a')] }, { calls: [call('b')] }])
    expect(asked()).toBe(2)
  })

  it('remembers for a second at most, since what is done elsewhere cannot reach it', async () => {
    const { ask, asked, inner, clock } = bench()
    const slow = tokenBucket({ rate: '1/h', burst: 1 })
    await ask(call('k', 1, slow))
    expect((await ask(call('k', 1, slow))).outcome).toBe('denied')
    await inner.reset([call('k', 1, slow).id])
    clock.advance(999)
    expect((await ask(call('k', 1, slow))).outcome).toBe('denied')
    clock.advance(1)
    expect((await ask(call('k', 1, slow))).outcome).toBe('allowed')
    expect(asked()).toBe(3)
  })

  it.each<[string, (store: Store, held: Call) => Promise<unknown> | undefined]>([
    ['reset', (store, { id }) => store.reset([id])],
    ['refund', (store, held) => store.adjust?.([held], [held.cost])],
    ['unblock', (store, { id }) => store.block?.([id], null)],
  ])('drops what it remembers of a key at a %s', async (_, act) => {
    const { ask, store, inner } = bench()
    const held = call('k', 10)
    await ask(held)
    await inner.block?.([held.id], 60_000_000)
    expect((await ask(held)).calls[0]).toMatchObject({ outcome: 'denied', blocked: true })
    expect(await ask(held)).toMatchObject({ source: 'denied-cache', calls: [{ blocked: true }] })
    await act(store, held)
    expect((await ask(held)).source).toBe('store')
  })

  it('does not remember a denial that was on its way when the key was reset', async () => {
    const { ask, store } = bench()
    await ask(call('k', 10))
    const denied = ask(call('k', 5))
    const reset = store.reset([call('k').id])
    expect((await denied).outcome).toBe('denied')
    await reset
    expect((await ask(call('k', 5))).outcome).toBe('allowed')
  })

  it('remembers denials of the limit alone: nothing impossible, undecided, or for want of room', async () => {
    const failure = new StoreFailure('memory', 'no', 'full')
    const { ask, asked } = bench({}, (inner) => ({
      ...inner,
      consume: async (groups, callOptions) =>
        (await inner.consume(groups, callOptions)).map((verdict, index) =>
          groups[index]?.calls[0]?.id.key === 'shared' ? { ...verdict, reason: 'overflow', degraded: failure } : verdict,
        ),
    }))
    for (const key of ['shared', 'k']) await ask(call(key, 10))
    asked()
    for (const one of [call('k', 11), call('shared', 5)])
      expect([await ask(one), await ask(one)].map(({ source }) => source)).toEqual(['store', 'store'])
    expect(asked()).toBe(4)
  })

  it('keeps to its bound: the oldest goes', async () => {
    const { ask, asked, clock } = bench({ maxDenials: 3 })
    for (const key of ['a', 'b', 'c', 'd']) await ask(call(key, 10))
    for (const key of ['a', 'b', 'c', 'd']) await ask(call(key, 10))
    asked()
    for (const key of ['b', 'c', 'd']) await ask(call(key, 10))
    expect(asked()).toBe(0)
    await ask(call('a', 10))
    expect(asked()).toBe(1)
    for (let cost = 1; cost <= 6; cost += 1) await ask(call('k', 10 - cost / 10))
    clock.advance(1_000)
    for (let round = 0; round < 2_000; round += 1) {
      await ask(call(`r${round}`, 10))
      await ask(call(`r${round}`, 10))
    }
    asked()
    expect((await ask(call('r1999', 10))).source).toBe('denied-cache')
    expect((await ask(call('r1996', 10))).source).toBe('store')
  })

  it('remembers nothing after the machine has slept, nor after it is closed', async () => {
    const { ask, clock, sleep, store } = bench()
    await ask(call('k', 10))
    await ask(call('k', 5))
    expect((await ask(call('k', 5))).source).toBe('denied-cache')
    sleep(51)
    clock.advance(1)
    expect((await ask(call('k', 5))).source).toBe('store')
    expect((await ask(call('k', 5))).source).toBe('denied-cache')
    await store.close()
    expect((await ask(call('k', 5))).source).toBe('store')
  })

  it('does not stand between a caller and a time of its choosing, nor before a store in this process', async () => {
    const { ask, store, clock } = bench()
    await ask(call('k', 10))
    await ask(call('k', 5))
    expect((await store.consume([{ calls: [call('k', 5)] }], { now: clock.now() + 500_000 }))[0]?.outcome).toBe('allowed')
    const here = memoryStore()
    expect(withDeniedCache(here)).toBe(here)
  })

  it.each([{ maxDeniedMs: 0 }, { maxDeniedMs: Number.NaN }, { maxDenials: 0.5 }, { max: 1 }])('refuses %j', (options) => {
    expect(() => withDeniedCache(memoryStore(), options as DeniedCacheOptions)).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTIONS' }),
    )
  })
})
