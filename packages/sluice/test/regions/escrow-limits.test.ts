import { describe, expect, it } from 'vitest'
import { tokenBucket } from '../../src/algorithms/token-bucket.ts'
import { createLimiter } from '../../src/create-limiter.ts'
import { exchange, type RegionalStore, regionalStore } from '../../src/regions.ts'
import { memoryStore } from '../../src/stores/memory/memory-store.ts'
import { manualClock } from '../../src/time/manual.ts'
import { forgotten } from './forgotten.ts'
import { storeNetwork, TOKEN } from './store-network.ts'

const SECOND = 1_000_000
const limit = tokenBucket({ rate: '1/s', burst: 100 })

describe('a store with escrow, whose keys have several limits, or callers that wait', () => {
  it('regions R4: keys of one scope that have other limits keep theirs, whichever was called last', () => {
    const fast = tokenBucket({ rate: '100/s', burst: 1000 })
    const network = storeNetwork([500, 500], [fast], { cells: 2, others: [limit] })
    for (let round = 0; round < 3; round += 1) network.round()
    network.wait(200 * SECOND)
    for (const region of [0, 1]) {
      network.call(region, undefined, 1)
      network.call(region, TOKEN, 0)
    }
    expect(network.lend(0, 1, 0.5, 1, 0)).toBe(true)
    network.round()
    network.wait(8 * SECOND)
    expect([network.spendable(0, 1), network.spendable(1, 1)]).toEqual([2 * TOKEN, 6 * TOKEN])
  })

  it('regions R4: hole 3: what was sent under an old limit arrives after the rollout, and its tokens are lost', () => {
    const network = storeNetwork([500, 500], [tokenBucket({ rate: '1/s', burst: 60 }), tokenBucket({ rate: '1/s', burst: 20 })])
    for (let round = 0; round < 3; round += 1) network.round()
    network.wait(200 * SECOND)
    network.lend(0, 1, 0.5, 0, 0)
    network.read(1, 0)
    network.settle(1)
    expect(network.call(1, undefined, 0, 1)).toBeGreaterThan(9 * TOKEN)
    network.deliver(0, false)
    network.check()
    network.call(0, undefined, 0, 1)
    network.call(1, undefined, 0, 1)
    expect(network.worst.a).toBeLessThanOrEqual(0)
    expect(network.worst.b).toBeLessThanOrEqual(0)
    // Units are sent once more for a peer that still names the old limit. The region goes on by the new limit.
    network.lend(0, 1, 0.5, 0, 0)
    network.wait(10 * SECOND)
    network.check()
    expect(network.worst.b).toBeLessThanOrEqual(0)
  })

  it('regions R5: a key whose state the store dropped was full by the limit and the share that it had last', async () => {
    for (const worst of await forgotten(storeNetwork)) expect(worst).toBeLessThanOrEqual(0)
  })

  it('makes callers wait for tokens that are there: units may be sent while they wait', async () => {
    const clock = manualClock(200 * SECOND)
    const [eu, us] = [['eu', 'us'] as const, ['us', 'eu'] as const].map(([self, peer]) =>
      regionalStore({ store: memoryStore({ clock }), self, peers: [peer], mode: 'escrow' }),
    ) as [RegionalStore, RegionalStore]
    for (let round = 0; round < 3; round += 1) exchange(eu, us)
    clock.advance(10_000)
    const rate = tokenBucket({ rate: '100/s', burst: 100 })
    const [here, there] = [eu, us].map((store) => createLimiter({ name: 'api', limit: rate, store, clock }))
    let passed = 0
    const call = async (limiter: typeof here, cost: number) => {
      if ((await limiter?.check('k', { cost }))?.outcome === 'allowed') passed += cost
    }
    await call(here, 50)
    await call(there, 50)
    const ends = new AbortController()
    const waiting = Array.from({ length: 50 }, async () => {
      const decision = await here?.wait('k', { maxWaitMs: 5_000, signal: ends.signal }).catch(() => undefined)
      if (decision?.outcome === 'allowed') passed += 1
    })
    await new Promise((resolve) => setImmediate(resolve))
    const key = { id: { scope: { text: 'api:default:tb:' }, key: 'k' }, limit: rate }
    expect(eu.give?.(key, 'us', 490)).toBe(true)
    exchange(eu, us)
    for (let tick = 0; tick < 100; tick += 1) {
      clock.advance(10)
      await new Promise((resolve) => setImmediate(resolve))
    }
    await call(there, 99)
    expect(passed).toBeLessThanOrEqual(100 + 100)
    ends.abort()
    await Promise.all(waiting)
  })
})
