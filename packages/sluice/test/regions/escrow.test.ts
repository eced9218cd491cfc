import { describe, expect, it } from 'vitest'
import { slidingWindowLog } from '../../src/algorithms/sliding-window-log.ts'
import { tokenBucket } from '../../src/algorithms/token-bucket.ts'
import { createLimiter } from '../../src/create-limiter.ts'
import { exchange, regionalStore } from '../../src/regions.ts'
import { memoryStore } from '../../src/stores/memory/memory-store.ts'
import { seeded } from '../../src/testing/random.ts'
import { manualClock } from '../../src/time/manual.ts'
import { draws } from '../draws.ts'
import { settlesAfterGifts } from './settled-later.ts'
import { history } from './store-history.ts'
import { storeNetwork, TOKEN } from './store-network.ts'

const SECOND = 1_000_000
const limit = tokenBucket({ rate: '1/s', burst: 100 })

/** Two regions that know each other, with full buckets. */
function halves(options = {}) {
  const network = storeNetwork([500, 500], [limit], options)
  for (let round = 0; round < 3; round += 1) network.round()
  network.wait(200 * SECOND)
  return network
}

describe('a store with escrow', () => {
  it('holds nothing after its start until all regions know it, and then fills from empty', () => {
    const network = storeNetwork([500, 500], [limit])
    expect(network.sites.map(({ store }) => [store.phase, store.era])).toEqual([
      ['learning', 0],
      ['learning', 0],
    ])
    expect(network.call(0, TOKEN)).toBe(0)
    let rounds = 0
    for (; !network.agree() && rounds < 9; rounds += 1) network.round()
    expect(rounds).toBeLessThanOrEqual(3)
    expect(network.sites.map(({ store }) => [store.phase, store.era])).toEqual([
      ['open', 1],
      ['open', 1],
    ])
    expect(network.spendable(0)).toBe(0)
    network.wait(10 * SECOND)
    expect(network.spendable(0)).toBe(5 * TOKEN)
    network.wait(200 * SECOND)
    expect([network.call(0), network.call(1)]).toEqual([50 * TOKEN, 50 * TOKEN])
  })

  it('sends units with their tokens; on their way they belong to nobody; read again they change nothing', () => {
    const network = halves()
    expect(network.give(0, 1, 0.5)).toBe(true)
    expect([network.spendable(0), network.spendable(1)]).toEqual([25 * TOKEN, 50 * TOKEN])
    network.read(1, 0)
    network.deliver(0, true)
    network.deliver(0, true)
    expect([network.spendable(0), network.spendable(1)]).toEqual([25 * TOKEN, 75 * TOKEN])
    network.round()
    expect([network.call(0), network.call(1)]).toEqual([25 * TOKEN, 75 * TOKEN])
    network.wait(4 * SECOND)
    expect([network.spendable(0), network.spendable(1)]).toEqual([1 * TOKEN, 3 * TOKEN])
  })

  it('denies everything to a region that sent all it had, and takes units back', () => {
    const network = halves()
    network.give(0, 1, 1)
    network.round()
    expect([network.spendable(0), network.call(1)]).toEqual([0, 100 * TOKEN])
    const [{ store }] = network.sites as [(typeof network.sites)[0], ...typeof network.sites]
    const call = { id: { scope: { text: 'limiter:limit:tb' }, key: 'k0' }, limit, phase: 0 }
    expect(store.decideNow?.({ calls: [{ ...call, cost: TOKEN }] })).toMatchObject({
      outcome: 'denied',
      calls: [{ remaining: 0 }],
    })
    expect(store.decideNow?.({ calls: [{ ...call, cost: 101 * TOKEN }] })).toMatchObject({
      outcome: 'impossible',
    })
    network.wait(10 * SECOND)
    network.give(1, 0, 1)
    network.round()
    expect([network.call(0), network.call(1)]).toEqual([10 * TOKEN, 0])
  })

  it('denies a blocked key as blocked, also to a region that sent all it had', async () => {
    const network = halves()
    network.give(0, 1, 1)
    network.round()
    const [{ store }] = network.sites as [(typeof network.sites)[0], ...typeof network.sites]
    const call = { id: { scope: { text: 'limiter:limit:tb' }, key: 'k0' }, limit, cost: TOKEN, phase: 0 }
    await store.change([{ kind: 'block', id: call.id, micros: 5 * SECOND }])
    const denied = store.decideNow?.({ calls: [call] })
    expect(denied).toMatchObject({ outcome: 'denied', calls: [{ outcome: 'denied', retryAfter: 5 * SECOND, blockedFor: 5 * SECOND }] })
    expect(denied).toHaveProperty('retryAfter', undefined)
  })

  it('keeps its weight where there is no room for another key with rows, and goes on when there is', () => {
    const network = halves({ cells: 2, maxCells: 1 })
    expect([network.give(0, 1, 0.5, 0), network.give(0, 1, 0.5, 1)]).toEqual([true, false])
    network.give(1, 0, 0.5, 1)
    network.round()
    expect([network.spendable(0, 1), network.spendable(1, 1)]).toEqual([50 * TOKEN, 25 * TOKEN])
    expect(network.sites.map(({ store }) => store.cells)).toEqual([1, 1])
    // What found no room is void with its era.
    network.endEra(0, 2, [500, 500])
    for (let round = 0; round < 3; round += 1) network.round()
    expect(network.agree()).toBe(true)
    expect(network.sites.map(({ store }) => store.cells)).toEqual([0, 0])
  })

  it('that was lost holds nothing until the next era, whose weights may be others', () => {
    const network = halves()
    network.give(0, 1, 0.5)
    network.round()
    network.lose(1)
    expect([network.spendable(0), network.spendable(1)]).toEqual([25 * TOKEN, 0])
    for (let round = 0; round < 4; round += 1) network.round()
    expect(network.agree()).toBe(true)
    expect(network.spendable(1)).toBe(0)
    network.endEra(0, 2, [200, 800])
    for (let round = 0; round < 4; round += 1) network.round()
    network.wait(200 * SECOND)
    expect([network.call(0), network.call(1)]).toEqual([20 * TOKEN, 80 * TOKEN])
  })

  it('applies each change of weights as of its instant to a key that was not called meanwhile', () => {
    const network = halves()
    expect(network.call(0, 10 * TOKEN)).toBe(10 * TOKEN)
    network.endEra(0, 2, [200, 800])
    network.endEra(0, 3, [500, 500])
    for (let round = 0; round < 4; round += 1) network.round()
    expect(network.agree()).toBe(true)
    // 40 tokens were left. While the era ended, the region held at most 200 units, whose burst is 20 tokens.
    expect([network.spendable(0), network.spendable(1)]).toEqual([20 * TOKEN, 50 * TOKEN])
  })

  it('knows at once that a key has rows now', () => {
    const network = halves({ cells: 2 })
    network.give(0, 1, 0.5, 0)
    expect(network.spendable(0, 1)).toBe(50 * TOKEN)
    network.give(0, 1, 0.5, 1)
    expect(network.call(0, undefined, 1)).toBe(25 * TOKEN)
    network.wait(4 * SECOND)
    expect(network.spendable(0, 1)).toBe(1 * TOKEN)
  })

  it('sends nothing of a key for whose state the store has no room', () => {
    let now = 0
    const clock = { ...manualClock(0), now: () => now }
    const store = regionalStore({
      store: memoryStore({ maxKeys: 1, clock }),
      self: 'eu',
      peers: ['us'],
      mode: 'escrow',
    })
    const peer = regionalStore({
      store: memoryStore({ clock }),
      self: 'us',
      peers: ['eu'],
      mode: 'escrow',
    })
    for (let round = 0; round < 3; round += 1) exchange(store, peer)
    now = 200 * SECOND
    const call = (key: string) => ({
      id: { scope: { text: 's:tb:' }, key },
      limit,
      cost: TOKEN,
      phase: 0,
    })
    expect(store.decideNow?.({ calls: [call('a')] })).toMatchObject({ outcome: 'allowed' })
    expect([store.give?.(call('b'), 'us', 100), store.unitsOf?.(call('b')), store.cells]).toEqual([false, 500, 0])
    expect([store.give?.(call('a'), 'us', 100), store.unitsOf?.(call('a')), store.cells]).toEqual([true, 400, 1])
    // A region that had no room for a key of which units were sent reads it again when there is room.
    expect(peer.give?.(call('b'), 'eu', 100)).toBe(true)
    exchange(store, peer)
    expect(store.unitsOf?.(call('b'))).toBe(500)
    now = 400 * SECOND
    exchange(store, peer)
    expect([store.unitsOf?.(call('b')), peer.unitsOf?.(call('b'))]).toEqual([600, 400])
  })

  it('never admits more than the limit over all regions, in random histories with losses, eras, partitions and rollouts', async () => {
    let reached = 0
    let gifts = 0
    for (let seed = 1; seed <= draws(600, 12); seed += 1) {
      const found = await history(seed)
      expect(found, `seed ${seed}`).toMatchObject({ over: false, agreed: true })
      if (found.reached) reached += 1
      gifts += found.gifts
    }
    expect(reached).toBeGreaterThan(0)
    expect(gifts).toBeGreaterThan(0)
  })

  it('nor with holds that are settled after units were sent or received', async () => {
    const sum = { held: 0, back: 0, nothing: 0, gifts: 0 }
    for (let seed = 1; seed <= draws(600, 12); seed += 1) {
      const found = await history(seed, undefined, true)
      expect(found, `seed ${seed}`).toMatchObject({ over: false, agreed: true })
      for (const name of Object.keys(sum) as (keyof typeof sum)[]) sum[name] += found[name]
    }
    expect(Object.values(sum)).not.toContain(0)
  })

  it('settles a hold by the share that is left, and charges nothing where no units are left', () => settlesAfterGifts(storeNetwork))

  it('decides as a store that never sent any, when all units are back', () => {
    const network = halves()
    const plain = memoryStore({ clock: { ...manualClock(0), now: () => network.time(0) } })
    const half = tokenBucket({ rate: '0.5/s', burst: 50 })
    for (const part of [1, 0.3]) {
      network.give(0, 1, part)
      network.round()
      network.give(1, 0, part === 1 ? 0.5 : 150 / 650)
      network.round()
    }
    const [{ store }] = network.sites as [(typeof network.sites)[0], ...typeof network.sites]
    const call = { id: { scope: { text: 'limiter:limit:tb' }, key: 'k0' }, phase: 0 }
    expect(store.unitsOf?.({ ...call, limit })).toBe(500)
    const random = seeded(20_261_123)
    for (let step = 0; step < 300; step += 1) {
      network.wait(Math.floor(random() * 9 * SECOND))
      const cost = Math.ceil(random() * (random() < 0.2 ? 60 : 6) * TOKEN)
      const [own, other] = [
        store.decideNow?.({ calls: [{ ...call, limit, cost }] }),
        plain.decideNow({ calls: [{ ...call, limit: half, cost }] }),
      ]
      if (other.outcome === 'impossible') expect(own).toMatchObject({ outcome: 'denied' })
      else expect(own).toEqual(other)
    }
  })

  it('is in groups with fixed parts of other limits, all or nothing, and has the refunds and debts of its share', async () => {
    const network = halves()
    network.give(0, 1, 0.8)
    network.round()
    const [{ store, inner }] = network.sites as [(typeof network.sites)[0], ...typeof network.sites]
    const scope = (text: string) => ({ scope: { text }, key: 'k0' })
    const bucket = { id: scope('limiter:limit:tb'), limit, phase: 0, cost: 4 * TOKEN }
    const log = {
      id: scope('limiter:log:sl'),
      limit: slidingWindowLog({ limit: 10, window: '1h' }),
      phase: 0,
      cost: 4 * TOKEN,
    }
    expect(store.decideNow?.({ calls: [bucket, log] })).toMatchObject({
      outcome: 'allowed',
      calls: [{ remaining: 6 }, { remaining: 1 }],
    })
    expect(store.decideNow?.({ calls: [bucket, log] })).toMatchObject({
      outcome: 'denied',
      calls: [{ remaining: 6 }, { remaining: 1 }],
    })
    expect(network.spendable(0)).toBe(6 * TOKEN)
    await store.change([{ kind: 'adjust', call: bucket, amount: 50 * TOKEN }])
    expect(network.spendable(0)).toBe(10 * TOKEN)
    expect(store.capabilities.groupOptions).toEqual(['hold'])
    await store.decide([{ calls: [{ ...bucket, cost: 10 * TOKEN }] }])
    await store.change([{ kind: 'adjust', call: bucket, amount: -4 * TOKEN }])
    // The bucket is 4 tokens below empty, and is empty again after 40 s at a tenth of a token per second. A debt is never sent to a peer.
    expect(network.spendable(0)).toBe(0)
    network.wait(40 * SECOND)
    expect([network.spendable(0), inner.size]).toEqual([0, 2])
    network.give(0, 1, 1)
    network.round()
    expect([network.spendable(0), network.spendable(1)]).toEqual([0, 90 * TOKEN])
  })

  it('is named where units cannot be sent', () => {
    const make = (options: object) => () => regionalStore({ store: memoryStore(), self: 'eu', peers: ['us'], ...options })
    const far = { ...memoryStore(), name: 'redis', rewrite: undefined }
    expect(make({ mode: 'escrow', store: far })).toThrow(
      'regionalStore: mode escrow does not run over redis in this version; use mode fixed',
    )
    expect(make({ maxCells: 1 })).toThrow('regionalStore: maxCells is for modes escrow and counters')
    const escrow = make({ mode: 'escrow' })()
    expect(() => exchange(escrow, make({})())).toThrow('exchange: expected a regionalStore with mode escrow')
    expect(() => exchange(escrow, make({ mode: 'escrow' })())).toThrow('expected two regions that know each other, got eu and eu')
    const key = { id: { scope: { text: 's' }, key: 'k' }, limit }
    expect(escrow.give?.(key, 'us', 1)).toBe(false)
    expect(() => escrow.give?.(key, 'eu', 1)).toThrow('regionalStore: give to "eu", expected another region')
    expect(() => escrow.give?.(key, 'us', 0.5)).toThrow('units is 0.5, expected a whole number above 0')
    expect(() => escrow.give?.({ ...key, limit: slidingWindowLog({ limit: 10, window: '1h' }) }, 'us', 1)).toThrow(
      'regionalStore: give: a sliding-window-log has fixed parts: only units of token buckets can be sent',
    )
    const slow = tokenBucket({ rate: '0.00001/1000s', burst: 2 })
    expect(() => createLimiter({ limit: slow, store: escrow })).toThrow("limit default: a region's share of")
  })
})
