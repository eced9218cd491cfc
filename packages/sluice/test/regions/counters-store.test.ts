import { afterEach, describe, expect, it } from 'vitest'
import { MICRO } from '../../src/algorithms/decimal.ts'
import { tokenBucket } from '../../src/algorithms/token-bucket.ts'
import { concurrency, createLimiter, fixedWindow, memoryStore } from '../../src/index.ts'
import { readSpendPage } from '../../src/regions/counters/messages.ts'
import { regionalStore, type RegionalStoreOptions, replicate, type Replicator } from '../../src/regions.ts'
import { type ManualClock, manualClock } from '../../src/time/manual.ts'

interface Region {
  readonly store: ReturnType<typeof regionalStore>
  readonly replicator: Replicator
}

/** Regions over memory stores with replicators, on one clock. A message takes 50 ms. */
function countedRegions(names: readonly string[], options: Partial<RegionalStoreOptions> = {}) {
  const clock = manualClock()
  const regions = new Map<string, Region>()
  const cuts = new Set<string>()
  const errors: unknown[] = []
  const travel = (from: string, to: string): Promise<void> =>
    new Promise(
      (resolve, reject) => void clock.after(50, () => (cuts.has(`${from}>${to}`) ? reject(new Error('the link is cut')) : resolve())),
    )
  const start = (self: string): Region => {
    const peers = names.filter((name) => name !== self)
    const store = regionalStore({ store: memoryStore({ clock }), self, peers, mode: 'counters', ...options })
    const replicator = replicate({
      store,
      clock,
      random: () => 0.5,
      onError: (_, error) => errors.push(error),
      async transport(peer, request) {
        await travel(self, peer)
        const page = JSON.parse(JSON.stringify(await regions.get(peer)?.replicator.answer(JSON.parse(JSON.stringify(request)))))
        await travel(peer, self)
        return page
      },
    })
    const region = { store, replicator }
    regions.set(self, region)
    return region
  }
  const at = (name: string): Region => regions.get(name) as Region
  for (const name of names) start(name)
  started.push(...regions.values())
  return {
    clock,
    cuts,
    errors,
    at,
    /** How many of so many calls of one token pass. */
    calls(name: string, count: number, key = 'k'): number {
      const id = { scope: SCOPE, key }
      let passed = 0
      for (let call = 0; call < count; call += 1)
        if (at(name).store.decideNow?.({ calls: [{ id, limit: LIMIT, cost: MICRO, phase: 0 }] })?.outcome === 'allowed') passed += 1
      return passed
    },
    pass: (ms: number): Promise<void> => passTime(clock, ms),
    async lose(name: string): Promise<void> {
      await at(name).replicator.close()
      started.push(start(name))
    },
  }
}

const SCOPE = { text: 'limiter:limit:tb:' }
const LIMIT = tokenBucket({ rate: '10/s', burst: 100 })
const started: Region[] = []

async function passTime(clock: ManualClock, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 50) {
    clock.advance(50)
    await new Promise((resolve) => setImmediate(resolve))
  }
}

afterEach(async () => {
  await Promise.all(started.splice(0).map(({ replicator }) => replicator.close()))
})

describe('regionalStore with mode counters', () => {
  it('refuses concurrency limits by name, and says which modes offer them', () => {
    const store = regionalStore({ store: memoryStore(), self: 'eu', peers: ['us'], mode: 'counters' })
    const slots = concurrency({ limit: 4, holdMs: 1_000 })
    expect(() => createLimiter({ name: 'api', limit: slots, store })).toThrow(
      'limiter api: limit default is a concurrency, which its store (memory) cannot decide with regions of mode counters; mode escrow and mode fixed can',
    )
    expect(() => createLimiter({ name: 'api', limit: LIMIT, store, maxHolds: 4 })).toThrow('cannot decide with regions of mode counters')
  })

  it('grants the whole limit in each region, and charges what the others spent when it reads it', async () => {
    const network = countedRegions(['eu', 'us'])
    await network.pass(200)
    expect(network.calls('eu', 150)).toBe(100)
    // `us` last read `eu` before `eu` granted this, and grants by the whole limit. So together they may grant N bursts.
    expect(network.calls('us', 20)).toBe(20)
    await network.pass(2_500)
    // Both are charged with the 20 of `us` and the 100 of `eu`, and 25 tokens were refilled in 2.5 s.
    expect(network.calls('us', 100)).toBe(5)
    expect(network.calls('eu', 100)).toBe(5)
    await network.pass(10_000)
    expect(network.calls('us', 200)).toBe(95)
    await network.pass(2_500)
    // In 2.5 s 25 tokens are refilled, less one: the bucket of `eu` was full for a moment before `eu` read what `us` spent.
    expect(network.calls('eu', 200)).toBe(24)
    expect(network.errors).toEqual([])
  })
  it('keeps a debt of any size: what a partition granted is paid back', async () => {
    const network = countedRegions(['eu', 'us'])
    await network.pass(200)
    for (const link of ['eu>us', 'us>eu']) network.cuts.add(link)
    let both = 0
    for (let second = 0; second < 60; second += 1) {
      await network.pass(1_000)
      both += network.calls('eu', 200) + network.calls('us', 200)
    }
    // Both had the burst and a minute of the rate.
    expect(both).toBeGreaterThan(2 * (100 + 10 * 58))
    network.cuts.clear()
    await network.pass(2_500)
    // Each owes the other's: no call passes for a minute.
    await network.pass(55_000)
    expect(network.calls('eu', 1) + network.calls('us', 1)).toBe(0)
    await network.pass(30_000)
    expect(network.calls('eu', 1) + network.calls('us', 1)).toBe(2)
  })
  it('is charged with no more than what a peer spent while the link was cut, however long that was', async () => {
    const network = countedRegions(['eu', 'us'])
    await network.pass(200)
    for (let second = 0; second < 60; second += 1) {
      network.calls('us', 100)
      await network.pass(1_000)
    }
    for (const link of ['eu>us', 'us>eu']) network.cuts.add(link)
    for (let second = 0; second < 60; second += 1) {
      network.calls('us', 1)
      await network.pass(1_000)
    }
    network.cuts.clear()
    await network.pass(2_500)
    // `eu` had a full bucket of 100, was charged with the 60 of `us`, and was refilled for up to 2.5 s.
    expect(network.calls('eu', 100)).toBeGreaterThanOrEqual(40)
  })
  it('keeps to its part while a peer was not read for the cutoff, from empty, until all are read again', async () => {
    const network = countedRegions(['ap', 'eu', 'us'], { cutoffMs: 3_000 })
    // Nobody has been read yet.
    expect(network.at('eu').replicator.status()).toMatchObject({ phase: 'learning', units: 333 })
    expect(network.calls('eu', 10)).toBe(0)
    await network.pass(200)
    expect(network.at('eu').replicator.status()).toMatchObject({ phase: 'open', units: 1_000 })
    expect(network.calls('eu', 200)).toBe(100)
    network.cuts.add('us>eu')
    await network.pass(4_000)
    // `eu` reads `ap`, but not `us`, which may have used the whole limit. So `eu` grants a third of the rate, from the cutoff on.
    expect(network.at('eu').replicator.status()).toMatchObject({ phase: 'learning', units: 333, cells: 1 })
    const first = network.calls('eu', 100)
    expect(first).toBeLessThanOrEqual(4)
    await network.pass(10_000)
    expect(network.calls('eu', 100)).toBe(33)
    // us reads eu, and has charged all of this.
    expect(network.calls('us', 200)).toBeLessThanOrEqual(100)
    network.cuts.clear()
    await network.pass(2_000)
    expect(network.at('eu').replicator.status().phase).toBe('open')
    expect(network.errors.map(String)).toContain('Error: the link is cut')
  })
  it('counts a store that was lost under another run, and charges it with what others spent lately', async () => {
    const network = countedRegions(['eu', 'us'])
    await network.pass(200)
    network.calls('eu', 60)
    await network.pass(2_500)
    await network.lose('eu')
    await network.pass(500)
    // The new store of `eu` counts from 0 again. `us` is charged with what this store spends all the same.
    expect(network.calls('eu', 50)).toBe(50)
    await network.pass(2_500)
    expect(network.calls('us', 200)).toBeLessThan(50)
    expect(network.errors).toEqual([])
  })
  it('carries thousands of keys in pages, and drops them when all have read them and they are full again', async () => {
    const network = countedRegions(['eu', 'us'])
    await network.pass(200)
    for (let key = 0; key < 2_500; key += 1) network.calls('eu', 10, `k${key}`)
    await network.pass(2_500)
    expect(network.calls('us', 200, 'k2499')).toBe(100)
    expect(network.at('eu').replicator.status().cells).toBe(2_500)
    await network.pass(20_000)
    expect(network.at('eu').replicator.status().cells).toBe(0)
    expect(network.errors).toEqual([])
  })
  it('fails calls of keys that it has no room to count', async () => {
    const network = countedRegions(['eu', 'us'], { maxCells: 2 })
    expect(['a', 'b', 'c'].map((key) => network.calls('eu', 1, key))).toEqual([1, 1, 0])
    const id = { scope: SCOPE, key: 'c' }
    expect(network.at('eu').store.decideNow?.({ calls: [{ id, limit: LIMIT, cost: MICRO, phase: 0 }] })?.failure?.kind).toBe('memory')
  })
  it('blocks and resets a key also while it is cut off', async () => {
    const network = countedRegions(['eu', 'us'], { cutoffMs: 2_000 })
    const { store } = network.at('eu')
    network.cuts.add('us>eu')
    await network.pass(3_000)
    const id = { scope: SCOPE, key: 'k' }
    await store.change([{ kind: 'block', id, micros: 60_000_000 }])
    expect(network.calls('eu', 1)).toBe(0)
    await store.change([{ kind: 'unblock', id }])
    expect(network.calls('eu', 1)).toBe(1)
  })
  it('keeps to its part of other limits and of long keys, and a peek charges nothing', async () => {
    const clock = manualClock()
    const store = regionalStore({ store: memoryStore({ clock }), self: 'eu', peers: ['us'], mode: 'counters' })
    const windows = createLimiter({ name: 'w', limit: fixedWindow({ limit: 10, window: '1m' }), store, clock })
    expect((await windows.check('u', { cost: 5 })).outcome).toBe('allowed')
    expect((await windows.check('u', { cost: 1 })).outcome).toBe('denied')
    const buckets = createLimiter({ name: 'b', limit: LIMIT, store, clock })
    const long = 'x'.repeat(513)
    expect((await buckets.check(long, { cost: 50 })).outcome).toBe('allowed')
    expect((await buckets.check(long, { cost: 1 })).outcome).toBe('denied')
    expect((await buckets.check(long, { cost: 101 })).outcome).toBe('impossible')
    expect((await buckets.peek('u')).limits[0]?.remaining).toBe(100)
  })
  it('keeps to its part of a limiter whose name no message may have, and goes on to read all other limits', async () => {
    const network = countedRegions(['eu', 'us'])
    const { clock } = network
    const passed = async (self: string, name: string): Promise<number> => {
      const limiter = createLimiter({ name, limit: tokenBucket({ rate: '1/h', burst: 10 }), store: network.at(self).store, clock })
      let allowed = 0
      for (let call = 0; call < 20; call += 1) if ((await limiter.check('u')).outcome === 'allowed') allowed += 1
      return allowed
    }
    await network.pass(200)
    const long = 'n'.repeat(260)
    expect([await passed('eu', long), await passed('us', long)]).toEqual([5, 5])
    expect(await passed('eu', 'short')).toBe(10)
    await network.pass(2_500)
    expect(await passed('us', 'short')).toBe(0)
    expect(network.errors).toEqual([])
  })
  it('refuses by name what it does not run over', () => {
    const remote = { ...memoryStore(), name: 'elsewhere', rewrite: undefined } as unknown as ReturnType<typeof memoryStore>
    expect(() => regionalStore({ store: remote, self: 'eu', peers: ['us'], mode: 'counters' })).toThrow(
      'mode counters does not run over elsewhere in this version, only over memoryStore',
    )
    expect(() => regionalStore({ store: memoryStore(), self: 'eu', peers: ['us'], cutoffMs: 2_000 })).toThrow(
      'cutoffMs is for mode counters',
    )
    const store = regionalStore({ store: memoryStore(), self: 'eu', peers: ['us'], mode: 'counters' })
    expect(store.capabilities.groupOptions).toBe(undefined)
    expect(() => createLimiter({ limit: concurrency({ limit: 10, holdMs: 1_000 }), store })).toThrow(
      'is a concurrency, which its store (memory) cannot decide with regions of mode counters',
    )
  })
  it('refuses messages of escrow, and pages that no region sends', async () => {
    const store = regionalStore({ store: memoryStore(), self: 'eu', peers: ['us'], mode: 'counters' })
    const errors: unknown[] = []
    const page = {
      version: 1,
      mode: 'counters',
      from: 'us',
      to: 'eu',
      run: 'r',
      rows: [['s:', 'k', '1/1/1', null, 1, -5]],
      cursor: 1,
      all: true,
      births: 1,
    }
    const replicator = replicate({ store, transport: async () => page, onError: (_, error) => errors.push((error as Error).message) })
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(errors).toEqual(['page of region us: rows[0] value is -5, expected a whole number from 0 to 9007199254740991'])
    expect(() => readSpendPage({ ...page, rows: [['s:', 'k', '1/1/1', [1, 0, 5], 1, 5]] }, 'us', 'eu')).toThrow(
      'page of region us: rows[0] most.m is 0, expected a whole number from 1 on',
    )
    await expect(replicator.answer({ version: 1, from: 'us', to: 'eu' })).rejects.toThrow(
      'request: it is one of mode escrow, and this region has mode counters',
    )
    expect(() => replicate({ store, transport: async () => page })).toThrow('the store has a replicator already')
    await replicator.close()
  })
})
