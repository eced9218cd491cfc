import { describe, expect, it } from 'vitest'
import type { AnyLimit } from '../../../src/algorithms/algorithm.ts'
import { tokenBucket } from '../../../src/algorithms/token-bucket.ts'
import { type Store, StoreFailure } from '../../../src/stores/store.ts'
import { audit, type TraceEntry } from '../../../src/testing/audit.ts'
import { seeded } from '../../../src/testing/random.ts'
import { type ManualClock, manualClock } from '../../../src/time/manual.ts'
import { draws } from '../../draws.ts'
import { settle } from './held-store.ts'
import { hoardingStore } from './hoarding-store.ts'
import { decide } from './lease-bench.ts'
import { leased } from './leased.ts'
import { type LeasingStore, leasingStore } from './leasing-store.ts'

interface Run {
  /** `seen` has each call at the time of its answer, by the clock that all share. `reported` has it at the time in the verdict. */
  readonly seen: TraceEntry[]
  readonly reported: TraceEntry[]
  readonly sources: Record<string, number>
}

/** A simulated network. Each way takes some milliseconds, and some answers are lost after the store has executed the request. */
function wire(store: LeasingStore, clock: ManualClock, random: () => number, losses: number): LeasingStore {
  const travel = (): Promise<void> => new Promise((resolve) => void clock.after(random() * 3, resolve))
  const over = async <T>(send: () => Promise<T>): Promise<T> => {
    await travel()
    const answer = await send()
    if (random() < losses) {
      await new Promise<void>((resolve) => void clock.after(50, resolve))
      throw new StoreFailure('timeout', 'unknown', 'lost')
    }
    await travel()
    return answer
  }
  return {
    ...store,
    decide: (groups) => over(() => store.decide(groups)),
    lease: (requests) => over(() => store.lease(requests)),
  }
}

/** Runs four processes that are quiet for a while and then all call at once, again and again. */
async function run(make: (clock: ManualClock) => LeasingStore, limit: AnyLimit, seed: number, losses = 0): Promise<Run> {
  const clock = manualClock()
  const random = seeded(seed)
  const far = make(clock)
  const scope = { text: 'audit:tb:' }
  const group = (cost: number) => ({ calls: [{ id: { scope, key: 'k' }, limit, cost: cost * 1_000_000, phase: 0 }] })
  const start = () => leased(wire(far, clock, random, losses), { clock, random, afterCalls: 1, lifeMs: 400, share: 0.3 })
  const processes = Array.from({ length: 4 }, start)
  const result: Run = { seen: [], reported: [], sources: {} }
  const ask = (store: Store, cost: number): void => {
    void decide(store, [group(cost)]).then(
      ([verdict]) => {
        if (verdict?.outcome !== 'allowed') return
        result.seen.push({ at: clock.now(), cost, allowed: true })
        result.reported.push({ at: verdict.at, cost, allowed: true })
        result.sources[verdict.source] = (result.sources[verdict.source] ?? 0) + 1
      },
      () => {},
    )
  }
  for (let step = 0; step < 600; step += 1) {
    // Now and then one crashes, with all its leased tokens.
    if (random() < 0.01) processes[Math.floor(random() * 4)] = start()
    const burst = step % 60 > 50
    for (const store of processes) {
      const calls = burst ? 40 : random() < 0.3 ? 1 : 0
      for (let call = 0; call < calls; call += 1) ask(store, random() < 0.02 ? 20 : 1)
    }
    await settle()
    clock.advance(burst ? 1 : random() * 12)
    await settle()
  }
  return result
}

const cases = [
  { seed: 8, limit: tokenBucket({ rate: '5000/s', burst: 400 }) },
  { seed: 7, limit: tokenBucket({ rate: '200/s', burst: 100 }) },
  { seed: 9, limit: tokenBucket({ rate: '33/s', burst: 50 }) },
].slice(0, draws(3, 1))

describe('four processes with leases on one key', () => {
  it.each([0, 0.1])('admit no token above the limit, whatever is lost (%s of answers), by every clock', async (losses) => {
    for (const { seed, limit } of cases) {
      const { seen, reported, sources } = await run(leasingStore, limit, seed, losses)
      expect(sources['lease']).toBeGreaterThan(100)
      expect(audit(reported, limit).overGrant).toBe(0)
      // An answer of the store arrives later than it was made, so only its timestamp can be audited. In this case every answer came from a
      // lease.
      if (limit.capacity === 400) expect([sources['store'], audit(seen, limit).overGrant]).toEqual([undefined, 0])
    }
  })

  it('are caught where leases are granted while the bucket fills up again', async () => {
    const worst = await Promise.all(
      cases.map(async ({ seed, limit }) => audit((await run(hoardingStore, limit, seed)).reported, limit).overGrant),
    )
    expect(Math.max(...worst)).toBeGreaterThan(10)
  })
})
