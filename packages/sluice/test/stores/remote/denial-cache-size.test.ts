import { describe, expect, it } from 'vitest'
import { tokenBucket } from '../../../src/algorithms/token-bucket.ts'
import { DenialCache } from '../../../src/stores/remote/denial-cache.ts'
import type { Call, Decided, StateId } from '../../../src/stores/store.ts'
import { manualClock } from '../../../src/time/manual.ts'

const limit = tokenBucket({ rate: '1/m', burst: 10 })

function bench(maxDenials: number) {
  const clock = manualClock()
  const cache = new DenialCache({ clock, maxDeniedMs: 1_000, maxDenials })
  /** How often the text of a scope was read. Each step of a search for a state reads it once. */
  let reads = 0
  const scope = {
    get text() {
      reads += 1
      return 'd:tb:'
    },
  }
  const call = (key: string, cost = 1): Call => ({ id: { scope, key }, limit, cost: cost * 1_000_000, phase: 0 })
  return {
    clock,
    cache,
    call,
    find: (...calls: Call[]) => cache.find({ calls }, clock.monotonic()) !== undefined,
    /** @param passing how many calls come before the first that is denied; after `ms` milliseconds the denied ones would pass */
    deny: (calls: readonly Call[], ms = 60_000, passing = calls.length - 1) => {
      const retryAfter = ms * 1_000
      const view = { remaining: 0, replenishAfter: 0, resetAfter: 0 }
      const passed = { outcome: 'allowed' as const, retryAfter: 0, ...view }
      const verdicts = calls.map((_, index) => (index < passing ? passed : { outcome: 'denied' as const, retryAfter, ...view }))
      const verdict: Decided = { outcome: 'denied', at: clock.now(), retryAfter, calls: verdicts }
      cache.remember({ calls }, verdict, clock.monotonic(), cache.version)
    },
    /** The reads during `run`. */
    readsOf: (run: () => void): number => {
      const before = reads
      run()
      return reads - before
    },
  }
}
const other = (key: string): StateId => ({ scope: { text: 'd:tb:' }, key })
const keys = (count: number): string[] => Array.from({ length: count }, (_, index) => `k${index}`)

describe('R8: a change costs the same however many denials are remembered', () => {
  it('forgets a state without a step to 10,000 others', () => {
    const { cache, call, deny, find, readsOf } = bench(10_000)
    for (const key of keys(10_000)) deny([call(key)])
    expect(readsOf(() => cache.forget([other('unknown'), other('other')]))).toBe(0)
    expect(readsOf(() => cache.forget([other('k7')]))).toBeLessThan(4)
    expect(find(call('k7'))).toBe(false)
    expect(find(call('k0')) && find(call('k9999'))).toBe(true)
    expect(readsOf(() => deny([call('new')]))).toBeLessThan(10)
  })

  it('also for a state that all groups share, and one of another group', () => {
    const { cache, call, deny, find, readsOf } = bench(10_000)
    const shared = call('shared')
    for (const key of keys(10_000)) deny([shared, call(key)])
    expect(readsOf(() => cache.forget([other('k7')]))).toBeLessThan(4)
    expect(find(shared, call('k7'))).toBe(false)
    expect(find(shared, call('k8'))).toBe(true)
    expect(readsOf(() => cache.forget([shared.id]))).toBeLessThan(4)
    expect(keys(10_000).some((key) => find(shared, call(key)))).toBe(false)
    expect(readsOf(() => cache.forget([shared.id]))).toBeLessThan(4)
    deny([shared, call('k8')])
    expect(find(shared, call('k8'))).toBe(true)
  })

  it('forgets by the text of the scope: two limiters of one name share their states', () => {
    const { cache, call, deny, find } = bench(10)
    deny([call('k'), call('l')])
    cache.forget([other('k')])
    expect(find(call('k'), call('l'))).toBe(false)
    deny([call('k'), call('k')])
    expect(find(call('k'), call('k'))).toBe(true)
    cache.forget([other('k')])
    expect(find(call('k'), call('k'))).toBe(false)
  })
})

describe('the bounds of a denial cache', () => {
  it('removes the oldest if there is no room', () => {
    const { call, deny, find } = bench(3)
    for (const key of keys(4)) deny([call(key)])
    expect(keys(4).map((key) => find(call(key)))).toEqual([false, true, true, true])
    for (const cost of [1, 2, 3, 4]) deny([call('k', cost)])
    expect([1, 2, 3, 4].map((cost) => find(call('k', cost)))).toEqual([false, true, true, true])
    for (const key of keys(2_000)) deny([call('shared'), call(key)])
    expect(keys(2_000).filter((key) => find(call('shared'), call(key)))).toEqual(['k1997', 'k1998', 'k1999'])
  })

  it('removes first what has expired', () => {
    const { call, deny, find, clock } = bench(3)
    deny([call('a')], 10)
    deny([call('b')])
    deny([call('c')])
    clock.advance(10)
    deny([call('d')])
    expect(['b', 'c', 'd'].map((key) => find(call(key)))).toEqual([true, true, true])
  })

  it('is empty again when all are forgotten or have made room', () => {
    const { cache, call, deny, clock, find } = bench(3)
    deny([call('a'), call('b')])
    cache.forget([other('a'), other('b')])
    expect(cache.isEmpty).toBe(true)
    deny([call('a'), call('b')])
    clock.advance(1_000)
    deny([call('c')])
    cache.forget([other('c')])
    expect(cache.isEmpty).toBe(true)
    for (const key of keys(9)) deny([call(key)])
    cache.clear()
    expect(cache.isEmpty).toBe(true)
    for (const key of keys(4)) deny([call(key)])
    expect(keys(4).map((key) => find(call(key)))).toEqual([false, true, true, true])
  })

  it('keeps what is remembered anew when what was forgotten makes room', () => {
    const { cache, call, deny, clock, find } = bench(3)
    deny([call('k')])
    cache.forget([other('k')])
    clock.advance(500)
    deny([call('k')])
    clock.advance(500)
    deny([call('l')])
    expect(find(call('k'))).toBe(true)
  })

  it('keeps four denials by one state, each group once', () => {
    const { call, deny, find } = bench(10)
    for (const cost of [1, 1, 2, 2, 3, 4]) deny([call('l', cost)])
    expect([1, 2, 3, 4].map((cost) => find(call('l', cost)))).toEqual([true, true, true, true])
    for (const cost of [1, 2, 3, 4, 2, 5]) deny([call('k', cost)])
    expect([1, 2, 3, 4, 5].map((cost) => find(call('k', cost)))).toEqual([false, true, true, true, true])
    deny([call('k', 6)])
    expect([2, 3, 4, 5, 6].map((cost) => find(call('k', cost)))).toEqual([true, false, true, true, true])
  })

  it('keeps all groups of a shared state, if a state of their own denies them too', () => {
    const { call, deny, find } = bench(10)
    for (const key of keys(10)) deny([call('shared'), call(key)], 60_000, 0)
    expect(keys(10).every((key) => find(call('shared'), call(key)))).toBe(true)
  })
})
