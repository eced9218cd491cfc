import { describe, expect, it } from 'vitest'
import { holdRecord, KEPT_AFTER, RECORD_COST } from '../../src/algorithms/hold-record.ts'
import { tokenBucket } from '../../src/algorithms/token-bucket.ts'
import { memoryStore } from '../../src/index.ts'
import type { Call, Decided } from '../../src/stores/store.ts'
import { audit, type TraceEntry } from '../../src/testing/audit.ts'
import { seeded } from '../../src/testing/random.ts'
import { heldGroup, settlementOf } from '../../src/testing/store-suite/held.ts'
import { decided } from '../../src/testing/store-verbs.ts'
import { draws } from '../draws.ts'
import { followLedgers } from './hold-traces.ts'

const START = 1_763_692_800_123_456
const S = 1_000_000

describe('holds', () => {
  it('are charged and settled as in ledgers of exact rational numbers', async () => {
    const met = await followLedgers(memoryStore(), draws(60_000, 6_000), 20_261_123)
    for (const event of [
      'hold allowed',
      'hold denied',
      'hold impossible',
      'check allowed',
      'less',
      'more',
      'stands',
      'repeated',
      'expired',
      'overage',
      'nothing back',
    ]) {
      expect([event, (met.get(event) ?? 0) > draws(150, 15)]).toEqual([event, true])
    }
  })

  describe('of a bucket with 10 tokens, refilled in a second, of which a hold takes 4', () => {
    const { algorithm, plan } = tokenBucket({ rate: '10/s', burst: 10 })
    const { next: charged } = algorithm.decide(plan, undefined, START, 4 * S, 0)
    const mark = algorithm.markOf?.(charged) as number
    /** Settles the hold with nothing used. */
    const settled = (state: typeof charged, now: number) =>
      algorithm.settle?.(plan, state, now, { held: 4 * S, actual: 0, at: START, mark }, 0)?.state as typeof charged

    it('give nothing back, and change nothing, from the instant on at which the bucket could have been full without them', () => {
      const { next: state } = algorithm.decide(plan, { ...charged }, START + 100_000, 3 * S, 0)
      for (const after of [400_000, 400_001]) expect(settled(state, START + after)).toBe(state)
      expect(settled(state, START + 399_999)).not.toBe(state)
    })

    it('leave no state of a bucket that is full again', () => {
      for (const after of [200_000, 399_999]) expect(settled(charged, START + after)).toBeUndefined()
      // What has room here is no whole number of micro-tokens.
      const third = tokenBucket({ rate: '7/3s', burst: 6 })
      const { next } = algorithm.decide(third.plan, undefined, START, 6 * S, 0)
      const charge = { held: 6 * S, actual: 0, at: START, mark: algorithm.markOf?.(next) as number }
      for (const after of [1_000_000, 1_000_001, 1_000_002])
        expect(algorithm.settle?.(third.plan, next, START + after, charge, 0)).toEqual({ state: undefined, charged: 0 })
    })

    it('give back what had room until the last of the calls that wait has started', () => {
      const waited = (micros: number) => ({ ...charged, zero: START + micros, rest: 0 })
      const all = waited(1_000_000)
      expect(settled(all, START)).toBe(all)
      // The last waiting call starts 0.1 s later, 0.7 s after the instant at which the bucket was empty. In that time 7 of 10 tokens are
      // refilled. So there is room for 3 of the hold's 4.
      expect(settled(waited(100_000), START)).toMatchObject({ zero: START - 200_000, rest: 0 })
      expect(settled(waited(-100_000), START)).toMatchObject({ zero: START - 500_000, rest: 0 })
    })
  })

  it('are remembered until a minute after their end, to the microsecond', () => {
    const { algorithm, plan } = holdRecord({ micros: S, final: false, parts: [] })
    const { next, state = next } = algorithm.decide(plan, undefined, START, RECORD_COST, 0)
    const forgotten = START + S + KEPT_AFTER
    expect(algorithm.expiresAt(plan, state)).toBe(forgotten)
    for (const [now, outcome, kept] of [
      [forgotten - 1, 'denied', state],
      [forgotten, 'allowed', undefined],
    ] as const) {
      expect(algorithm.decide(plan, state, now, RECORD_COST, 0).outcome).toBe(outcome)
      expect(algorithm.adopt(plan, state, now, 0)).toBe(kept)
    }
  })

  /** Makes plain calls, calls that wait, and holds on one bucket. Each entry says what started, and when. */
  const traceOf = async (seed: number, atOnce: number): Promise<readonly TraceEntry[]> => {
    const random = seeded(seed)
    const pick = (count: number): number => Math.floor(random() * count)
    const store = memoryStore()
    const callOf = (cost: number): Call => ({ id: { scope: { text: 'a:b:tb:' }, key: 'k' }, limit: BUCKET, cost: cost * S, phase: 0 })
    const entries: TraceEntry[] = []
    const open: { readonly id: string; readonly call: Call; readonly at: number }[] = []
    let now = START
    for (let made = 0; made < draws(20_000, 2_000); made += 1) {
      now += pick(3) * pick(500_000)
      const call = callOf(1 + pick(4))
      const kind = pick(8)
      if (kind < 3 && open.length > 0) {
        const [held] = open.splice(pick(open.length), 1) as [(typeof open)[number]]
        const [result] = await store.change([settlementOf([held.call], held.id, pick(held.call.cost + 1))], { now })
        const charged = result?.hold?.parts[0]?.charged ?? held.call.cost
        if (charged > 0) entries.push({ at: held.at, cost: charged / S, allowed: true })
      } else if (kind < 6 && open.length < atOnce) {
        const [verdict] = await store.decide([heldGroup([call], `${made}`, 60 * S)], { now })
        if (decided(verdict).outcome === 'allowed') open.push({ id: `${made}`, call, at: now })
      } else {
        const [verdict] = await store.decide([{ calls: [call], ...(kind === 7 ? { options: { maxWait: 3 * S } } : {}) }], { now })
        const { outcome, retryAfter = 0 }: Decided = decided(verdict)
        if (outcome === 'allowed') entries.push({ at: now + retryAfter, cost: call.cost / S, allowed: true })
      }
    }
    for (const { at, call } of open) entries.push({ at, cost: call.cost / S, allowed: true })
    return entries
  }
  const BUCKET = tokenBucket({ rate: '7/3s', burst: 6 })

  it('law 5: with one hold at a time, whatever is given back while others wait ahead, no interval has more than the limit', async () => {
    expect(audit(await traceOf(1, 1), BUCKET).overGrant).toBeLessThanOrEqual(0)
  })

  it('law 5: with many holds at a time, no interval from the first charge on has more than the limit', async () => {
    const entries = (await traceOf(2, 6)).toSorted((a, b) => a.at - b.at)
    const first = entries[0]?.at as number
    let sum = 0
    for (const { at, cost } of entries) {
      sum += cost
      expect(sum).toBeLessThanOrEqual(6 + ((at - first) / S) * (7 / 3) + 1e-6)
    }
  })
})
