import { describe, expect, it } from 'vitest'
import type { AnyLimit } from '../../../src/algorithms/algorithm.ts'
import { fixedWindow } from '../../../src/algorithms/fixed-window.ts'
import { tokenBucket } from '../../../src/algorithms/token-bucket.ts'
import { type LeaseRequest, StoreFailure } from '../../../src/stores/store.ts'
import { leased } from './leased.ts'
import { manualClock } from '../../../src/time/manual.ts'
import { settle } from './held-store.ts'
import { call, decide, hundred, T } from './lease-bench.ts'
import { leasingStore } from './leasing-store.ts'

/** A lease cache with leases of one second, which it checks every 250 ms. Each request to the store is recorded. */
function renewalBench() {
  const clock = manualClock()
  const inner = leasingStore(clock)
  const requests: LeaseRequest[] = []
  const wire = { away: false, sleptMs: 0 }
  const noted: typeof inner = {
    ...inner,
    lease: async (asked, options) => {
      requests.push(...asked)
      if (wire.away) throw new StoreFailure('unavailable', 'no', 'away')
      return inner.lease(asked, options)
    },
  }
  const time = { ...clock, wall: () => clock.now() / 1_000 + wire.sleptMs }
  const store = leased(noted, { afterCalls: 1, share: 0.5, lifeMs: 1_000, clock: time, random: () => 0.5 })
  const { scope } = call('k').id
  const made = (key: string, limit: AnyLimit = hundred, cost = 1) => ({ ...call(key, limit, cost), id: { scope, key } })
  const ask = async (key: string, limit: AnyLimit = hundred, cost = 1) => (await decide(store, [{ calls: [made(key, limit, cost)] }]))[0]
  const pass = async (ms: number): Promise<void> => {
    clock.advance(ms)
    await settle()
  }
  return { inner, requests, wire, store, made, ask, pass }
}

describe('X7: leases are renewed', () => {
  it('once less than half of their usable time is left, and not before', async () => {
    const { requests, ask, pass } = renewalBench()
    const renewed = (): string[] => requests.splice(0).map(({ call: { id } }) => id.key)
    await ask('a')
    await pass(100)
    await ask('b')
    expect(renewed()).toEqual(['a', 'b'])
    await pass(150)
    expect(renewed()).toEqual([])
    await Promise.all([ask('a'), ask('b')])
    await pass(250)
    // Of the second, exactly half is left.
    expect(renewed()).toEqual(['a'])
    await Promise.all([ask('a'), ask('b')])
    await pass(250)
    expect(renewed()).toEqual(['b'])
  })

  it('requesting no more until the wait of a denial is over, and more from then on', async () => {
    const { inner, requests, ask, made, pass } = renewalBench()
    const limit = tokenBucket({ rate: '10/s', burst: 100 })
    await ask('k', limit)
    await decide(inner, [{ calls: [made('k', limit, 92)] }])
    expect(await ask('k', limit, 20)).toMatchObject({ outcome: 'denied', calls: [{ retryAfter: 2_000_000 }] })
    requests.splice(0)
    for (let look = 1; look <= 8; look += 1) {
      expect((await ask('k', limit, 0.5))?.source).toBe('lease')
      await pass(250)
    }
    expect(requests.map(({ want }) => Math.sign(want))).toEqual([0, 0, 0, 1])
  })

  it.each([0, 5_000])(
    'with what an old policy gave, where the store was away when the policy changed (asleep for %d ms)',
    async (sleptMs) => {
      const { requests, wire, ask, pass } = renewalBench()
      await ask('k')
      await pass(300)
      wire.away = true
      await expect(ask('k', tokenBucket({ rate: '10/s', burst: 90 }))).rejects.toThrow('away')
      wire.away = false
      wire.sleptMs = sleptMs
      requests.splice(0)
      await pass(200)
      expect(requests).toMatchObject([{ kept: 0, returned: 7 * T }])
    },
  )

  it('and nothing is requested where nothing is left', async () => {
    const { requests, store, ask, made, pass } = renewalBench()
    const limit = tokenBucket({ rate: '1/day', burst: 40 })
    for (let index = 0; index <= 40; index += 1) await ask('k', limit)
    requests.splice(0)
    for (let look = 1; look <= 4; look += 1) {
      // The key was denied, so no tokens can be leased until its wait is over. A call of several limits must not request a lease before
      // that either.
      await decide(store, [{ calls: [made('k', limit), made('other', fixedWindow({ limit: 100, window: '1m' }))] }])
      await pass(250)
      expect(requests).toEqual([])
    }
  })
})

describe('X7: a key whose bucket has as many holders as it may have', () => {
  it('is decided by the store, without a request for a lease before each call', async () => {
    const { inner, requests, ask, made, pass } = renewalBench()
    for (let holder = 1; holder <= 64; holder += 1) {
      const tenth = made('k', hundred, 0.1)
      await inner.lease([{ call: tenth, want: tenth.cost, holder, sequence: 1, life: 60_000_000, kept: 0, returned: 0 }])
    }
    for (let turn = 1; turn <= 5; turn += 1) {
      for (let index = 0; index < 3; index += 1) expect(await ask('k')).toMatchObject({ outcome: 'allowed', source: 'store' })
      expect(requests).toHaveLength(1)
      await pass(200)
    }
    await ask('k')
    expect(requests).toHaveLength(2)
  })
})
