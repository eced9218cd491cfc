import { describe, expect, it } from 'vitest'
import { leasing } from '../../../src/algorithms/leased-bucket.ts'
import { tokenBucket } from '../../../src/algorithms/token-bucket.ts'
import { TENS, type TimedTag } from '../../../src/testing/limits.ts'
import { storeSuite } from '../../../src/testing.ts'
import type { Store } from '../../../src/stores/store.ts'
import { leased } from './leased.ts'
import { manualClock } from '../../../src/time/manual.ts'
import { systemTime } from '../../../src/time/system.ts'
import { leasingStore, type LeasingStore } from './leasing-store.ts'
import { draws } from '../../draws.ts'

const tagOf = (scope: string): TimedTag => scope.split(':').at(-2) as TimedTag

const wrappers: readonly [name: string, wrap: (store: LeasingStore) => Store][] = [
  ['leased(of the pure functions)', (store) => leased(store, { afterCalls: 1, share: 1 })],
  ['of the pure functions of leases', (store) => store],
]

for (const [name, wrap] of wrappers.slice(0, draws(2, 1))) {
  let store: LeasingStore
  storeSuite(name, {
    open: async () => wrap((store = leasingStore(systemTime))),
    readState: async (id) => {
      const state = store.stateOf(id)
      return state === undefined ? undefined : leasing(TENS[tagOf(id.scope.text)]).algorithm.codec.encodeState(state)
    },
    differentialCalls: draws(10_000, 1_000),
  })
}

describe('a block', () => {
  it('is stronger than a lease that is asked for', async () => {
    const clock = manualClock()
    const here = leasingStore(clock)
    const id = { scope: { text: 'l:tb:' }, key: 'k' }
    const call = { id, limit: tokenBucket({ rate: '1/s', burst: 5 }), cost: 1_000_000, phase: 0 }
    await here.change([{ kind: 'block', id, micros: 3_000_000 }])
    const request = { call, want: 4_000_000, holder: 1, sequence: 1, life: 1_000_000, kept: 0, returned: 0 }
    expect(await here.lease([request])).toMatchObject([
      { granted: 0, verdict: { outcome: 'denied', blockedFor: 3_000_000, retryAfter: 3_000_000, remaining: 5 } },
    ])
    clock.advance(3_000)
    expect(await here.lease([{ ...request, sequence: 2 }])).toMatchObject([
      { granted: 4_000_000, verdict: { outcome: 'allowed', remaining: 1 } },
    ])
  })
})
