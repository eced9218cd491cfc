import { describe, expect, it } from 'vitest'
import type { AnyLimit } from '../../../src/algorithms/algorithm.ts'
import { fixedWindow } from '../../../src/algorithms/fixed-window.ts'
import { tokenBucket } from '../../../src/algorithms/token-bucket.ts'
import { memoryStore } from '../../../src/stores/memory/memory-store.ts'
import { DenialCache, type DenialCacheOptions } from '../../../src/stores/remote/denial-cache.ts'
import { type Call, type Change, changedState, type Decided, type GroupVerdict, StoreFailure } from '../../../src/stores/store.ts'
import * as verbs from '../../../src/testing/store-verbs.ts'
import { manualClock } from '../../../src/time/manual.ts'

const ten = tokenBucket({ rate: '10/s', burst: 10 })
const scopes = { tb: { text: 'd:tb:' }, fw: { text: 'd:fw:' } }
const call = (key: string, cost = 1, limit: AnyLimit = ten): Call => ({
  id: { scope: scopes[limit.algorithm.tag as 'tb' | 'fw'], key },
  limit,
  cost: cost * 1_000_000,
  phase: 0,
})

/** A denial cache in front of a memory store, used as the ring uses it. Each way to the store and back takes `wayMs`. */
function bench(options: Partial<DenialCacheOptions> & { readonly wayMs?: number } = {}) {
  const { wayMs = 0, ...rest } = options
  const clock = manualClock()
  let slept = 0
  let sent = 0
  const timed = { ...clock, wall: () => clock.now() / 1_000 + slept }
  const cache = new DenialCache({ clock: timed, maxDeniedMs: 1_000, maxDenials: 10_000, ...rest })
  const store = memoryStore({ clock })
  return {
    clock,
    cache,
    store,
    sleep: (ms: number) => (slept += ms),
    find: (...calls: Call[]): Decided | undefined => cache.find({ calls }, clock.monotonic()),
    /** @param seen what becomes of the verdict on its way */
    decide: async (calls: readonly Call[], seen = (verdict: GroupVerdict): GroupVerdict => verdict): Promise<Decided> => {
      const group = { calls }
      const [sentAt, version] = [clock.monotonic(), cache.version]
      const found = cache.find(group, sentAt)
      if (found !== undefined) return found
      sent += 1
      clock.advance(wayMs)
      const [verdict] = await store.decide([group])
      clock.advance(wayMs)
      cache.remember(group, seen(verdict as GroupVerdict), sentAt, version)
      return verbs.decided(verdict)
    },
    change: async (change: Change): Promise<void> => {
      cache.forget([changedState(change)])
      await verbs.change(store, [change])
      cache.forget([changedState(change)])
    },
    /** Groups that were sent to the store since the last time. */
    sent: () => {
      const count = sent
      sent = 0
      return count
    },
  }
}

describe('DenialCache', () => {
  it('finds what it remembers, and nothing else', async () => {
    const { cache, find, decide, clock } = bench()
    await decide([call('k', 10)])
    expect(cache.isEmpty).toBe(true)
    expect(find(call('k'))).toBeUndefined()
    const denied = await decide([call('k')])
    expect(cache.isEmpty).toBe(false)
    clock.advance(40)
    expect(find(call('k'))).toMatchObject({ source: 'denied-cache', at: denied.at + 40_000 })
    expect(find(call('k'))).not.toBe(find(call('k')))
    expect(find(call('k', 2))).toBeUndefined()
    expect(find()).toBeUndefined()
    clock.advance(60)
    expect(find(call('k'))).toBeUndefined()
  })

  it('answers until waiting is enough and not a microsecond longer, with waits that become shorter', async () => {
    const { decide, sent, clock } = bench()
    await decide([call('k', 10)])
    const first = await decide([call('k', 5)])
    expect(first).toMatchObject({ outcome: 'denied', calls: [{ retryAfter: 500_000 }] })
    sent()
    clock.advance(123.456)
    expect(await decide([call('k', 5)])).toEqual({
      outcome: 'denied',
      at: first.at + 123_456,
      retryAfter: 376_544,
      source: 'denied-cache',
      calls: [{ outcome: 'denied', retryAfter: 376_544, remaining: 0, replenishAfter: 0, resetAfter: 876_544 }],
    })
    clock.advance(376.543)
    expect(await decide([call('k', 5)])).toMatchObject({ source: 'denied-cache', calls: [{ retryAfter: 1 }] })
    expect(sent()).toBe(0)
    clock.advance(0.001)
    expect((await decide([call('k', 5)])).outcome).toBe('allowed')
    expect(sent()).toBe(1)
  })

  it('counts from before the store was called, so that a long way makes nobody wait longer', async () => {
    const { decide, sent, clock } = bench({ wayMs: 40 })
    await decide([call('k', 10)])
    // A token is refilled in 100 ms. When the reply arrives, 80 ms of these are over: 40 on the way to the store, 40 on the way back.
    const denied = await decide([call('k', 2)])
    const enoughAt = denied.at + (denied.calls[0]?.retryAfter as number)
    expect(sent()).toBe(2)
    expect((await decide([call('k', 2)])).source).toBe('denied-cache')
    expect(clock.now()).toBeLessThan(enoughAt)
    clock.advance((enoughAt - clock.now()) / 1_000 - 39)
    expect((await decide([call('k', 2)])).outcome).toBe('allowed')
  })

  it('tells costs, limits, keys and scopes apart', async () => {
    const { decide, find, sent } = bench()
    await decide([call('k', 10)])
    await decide([call('k', 2)])
    sent()
    await decide([call('k', 3)])
    await decide([call('other', 2)])
    await decide([call('k', 2, tokenBucket({ rate: '10/s', burst: 10 }))])
    expect(sent()).toBe(3)
    await decide([call('k', 2)])
    await decide([call('k', 3)])
    expect(sent()).toBe(0)
    const { id, ...rest } = call('k', 3)
    const elsewhere = { ...rest, id: { ...id, scope: { text: 'e:tb:' } } }
    expect(find(elsewhere)).toBeUndefined()
    expect((await decide([elsewhere, call('k', 3)])).outcome).toBe('denied')
    expect(find(elsewhere, call('k', 3))).toBeDefined()
    expect(find({ ...elsewhere, id: { ...id, scope: { text: 'f:tb:' } } }, call('k', 3))).toBeUndefined()
  })

  it('answers a group as a whole, until the first of its denied calls could pass', async () => {
    const { decide, sent, clock } = bench()
    const window = fixedWindow({ limit: 1, window: '1s' })
    const group = [call('global'), call('k', 2), call('k', 1, window)]
    await decide([call('k', 9), call('k', 1, window)])
    expect((await decide(group)).calls.map(({ outcome }) => outcome)).toEqual(['allowed', 'denied', 'denied'])
    sent()
    clock.advance(99.999)
    expect(await decide(group)).toMatchObject({
      source: 'denied-cache',
      calls: [{ outcome: 'allowed' }, { retryAfter: 1 }, { outcome: 'denied' }],
    })
    await decide(group.slice(1))
    await decide(group.toReversed())
    expect(sent()).toBe(2)
    clock.advance(0.001)
    expect((await decide(group)).source).toBeUndefined()
  })

  it('X5: gives the wait of the whole group, shorter by what has passed, and none if none was found', async () => {
    const { decide, find, clock } = bench()
    await decide([call('k', 10)])
    for (const [cost, retryAfter, left] of [
      [5, 900_000, 650_000],
      [6, undefined, undefined],
    ] as const) {
      await decide([call('k', cost)], (verdict) => ({ ...verbs.decided(verdict), retryAfter }))
      clock.advance(250)
      expect(find(call('k', cost))?.retryAfter).toBe(left)
    }
  })

  it('remembers for maxDeniedMs at most, since a change by another process cannot reach it', async () => {
    const { decide, sent, store, clock } = bench()
    const slow = tokenBucket({ rate: '1/h', burst: 1 })
    await decide([call('k', 1, slow)])
    expect((await decide([call('k', 1, slow)])).outcome).toBe('denied')
    await verbs.reset(store, [call('k', 1, slow).id])
    clock.advance(999)
    expect((await decide([call('k', 1, slow)])).outcome).toBe('denied')
    clock.advance(1)
    expect((await decide([call('k', 1, slow)])).outcome).toBe('allowed')
    expect(sent()).toBe(3)
  })

  it.each<[string, (held: Call) => Change]>([
    ['reset', ({ id }) => ({ kind: 'reset', id })],
    ['refund', (held) => ({ kind: 'adjust', call: held, amount: held.cost })],
    ['unblock', ({ id }) => ({ kind: 'unblock', id })],
  ])('forgets a state at a %s', async (_, changeOf) => {
    const { clock, decide, change, store } = bench()
    const held = call('k', 10)
    await decide([held])
    await verbs.block(store, [held.id], 60_000_000)
    expect((await decide([held])).calls[0]).toMatchObject({ outcome: 'denied', blockedFor: 60_000_000 })
    clock.advance(40)
    expect(await decide([held])).toMatchObject({ source: 'denied-cache', calls: [{ blockedFor: 59_960_000 }] })
    await change(changeOf(held))
    expect((await decide([held])).source).toBeUndefined()
  })

  it('reports no block that has ended, where the limit denies for longer', async () => {
    const { clock, decide, store } = bench()
    const window = fixedWindow({ limit: 1, window: '1h', align: 'first' })
    const one = call('k', 1, window)
    await decide([one])
    await verbs.block(store, [one.id], 100_000)
    expect((await decide([one])).calls[0]).toMatchObject({ outcome: 'denied', blockedFor: 100_000 })
    clock.advance(99)
    expect(await decide([one])).toMatchObject({ source: 'denied-cache', calls: [{ blockedFor: 1_000 }] })
    clock.advance(1)
    const after = await decide([one])
    expect(after).toMatchObject({ source: 'denied-cache', calls: [{ outcome: 'denied' }] })
    expect(after.calls[0]).not.toHaveProperty('blockedFor')
  })

  it('does not remember a denial whose call was in flight at a change', async () => {
    const { decide, change, cache } = bench()
    await decide([call('k', 10)])
    let changed: Promise<void> | undefined
    const during = (verdict: GroupVerdict): GroupVerdict => {
      changed = change({ kind: 'reset', id: call('k').id })
      return verdict
    }
    expect((await decide([call('k', 5)], during)).outcome).toBe('denied')
    expect(cache.isEmpty).toBe(true)
    await changed
    expect((await decide([call('k', 5)])).outcome).toBe('allowed')
  })

  it('does not remember a denial that is over when the reply arrives', async () => {
    const { decide, cache } = bench({ wayMs: 50 })
    await decide([call('k', 11)])
    await decide([call('k', 10)])
    expect((await decide([call('k', 2)])).outcome).toBe('denied')
    expect(cache.isEmpty).toBe(true)
  })

  it('remembers denials by limits and blocks alone', async () => {
    const { decide, cache } = bench()
    const failure = new StoreFailure('memory', 'no', 'full')
    await decide([call('k', 10)])
    expect((await decide([call('k', 11)])).outcome).toBe('impossible')
    for (const part of [{ degraded: failure }, { reason: 'overflow' as const }, { source: 'fallback' as const }])
      await decide([call('k', 5)], (verdict) => ({ ...verbs.decided(verdict), ...part }))
    await decide([call('k', 5)], () => ({ failure }))
    await decide([call('k', 5)], () => ({ failure, onFull: 'deny' }))
    expect(cache.isEmpty).toBe(true)
    await decide([call('k', 5)])
    expect(cache.isEmpty).toBe(false)
  })

  it('keeps no reference to the calls that it was given', async () => {
    const { decide, find } = bench()
    await decide([call('k', 10)])
    const reused = call('k', 5) as { -readonly [P in keyof Call]: Call[P] } & { id: { key: string } }
    const calls = [reused]
    await decide(calls)
    Object.assign(reused, { cost: 1 })
    reused.id.key = 'other'
    calls.pop()
    expect(find(call('k', 5))).toMatchObject({ source: 'denied-cache' })
  })

  it('clears itself after the machine has slept', async () => {
    const { decide, clock, sleep, cache, find } = bench()
    await decide([call('k', 10)])
    await decide([call('k', 5)])
    expect(find(call('k', 5))).toBeDefined()
    const { version } = cache
    sleep(51)
    // It looks once a millisecond.
    expect(find(call('k', 5))).toBeDefined()
    clock.advance(1)
    expect(find(call('k', 5))).toBeUndefined()
    expect(cache.isEmpty).toBe(true)
    expect(cache.version).toBeGreaterThan(version)
    await decide([call('k', 5)])
    expect(find(call('k', 5))).toBeDefined()
    cache.clear()
    expect(find(call('k', 5))).toBeUndefined()
  })
})
