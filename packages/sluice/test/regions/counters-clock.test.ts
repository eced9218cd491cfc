import { describe, expect, it } from 'vitest'
import { planOf } from '../../src/algorithms/bucket-plan.ts'
import { MICRO } from '../../src/algorithms/decimal.ts'
import { createCounterPeers } from '../../src/regions/counters/peers.ts'
import { createCounters, KEPT_MS } from '../../src/regions/counters/counters.ts'
import type { RewritingStore } from '../../src/regions/rewriting-store.ts'
import { memoryStore } from '../../src/stores/memory/memory-store.ts'
import { tokenBucket } from '../../src/algorithms/token-bucket.ts'
import { manualClock } from '../../src/time/manual.ts'

const CUTOFF_MS = 1_000
const HOUR_MS = 3_600_000
const LIMIT = tokenBucket({ rate: '10/s', burst: 10 })

/** Counters with a cutoff, that have just read their only peer completely by a clock this many milliseconds ahead of the store's. */
function justRead(aheadMs: number) {
  const clock = manualClock()
  const counters = createCounters(memoryStore({ clock }) as unknown as RewritingStore, ['us'], 'run', {
    maxCells: 10,
    cutoffMs: CUTOFF_MS,
    monotonic: () => clock.monotonic(),
    keptMs: KEPT_MS,
  })
  const clockAhead = (ms: number) => () => clock.monotonic() + ms
  counters.attach(clockAhead(aheadMs))
  counters.complete('us', 'peer', 0, clockAhead(aheadMs)())
  counters.detach()
  return { clock, counters, clockAhead }
}

describe('counters whose next replicator has another clock', () => {
  it.each([-HOUR_MS, HOUR_MS])('are cut off by the new clock as soon as by the last one, whose lead was %i ms', (aheadMs) => {
    const { clock, counters, clockAhead } = justRead(aheadMs)
    counters.attach(clockAhead(0))
    expect(counters.cutSince()).toBeUndefined()
    clock.advance(CUTOFF_MS)
    expect(counters.cutSince()).toBeUndefined()
    clock.advance(1)
    expect(counters.cutSince()).toBeDefined()
  })

  it('charge what a peer spent since the last complete read, by either clock', () => {
    let ahead = 0
    let now = 0
    const peers = createCounterPeers(['us'], () => now + ahead, KEPT_MS)
    const plan = planOf(1, 1, 10 * MICRO)
    // The peer had begun this row before the read, and this region does not know it.
    const row = { scope: 's', key: 'k', policy: '', most: undefined, born: 1, value: 100 * MICRO }
    peers.complete('us', 'peer', 1, now)
    now = 5_000
    const owed = peers.owed('us', 'peer', row, plan)
    ahead = HOUR_MS
    peers.shift(ahead)
    expect(peers.owed('us', 'peer', row, plan)).toBe(owed)
    // A full bucket, and five seconds by a clock that may be slow by a thousandth.
    expect(owed).toBe(15.005 * MICRO)
  })

  it('shift once if a replicator is closed and another one with the same clock is made', () => {
    const { clock, counters, clockAhead } = justRead(HOUR_MS)
    counters.attach(clockAhead(HOUR_MS))
    clock.advance(CUTOFF_MS + 1)
    expect(counters.cutSince()).toBeDefined()
    // The peer has not read for longer than its rows are kept, so rows that nobody read may be dropped.
    clock.advance(KEPT_MS)
    counters.spent({ id: { scope: { text: 's' }, key: 'k' }, limit: LIMIT, cost: MICRO, phase: 0 }, clock.now())
    clock.advance(60_000)
    counters.sweep()
    expect(counters.spend.size).toBe(0)
  })
})
