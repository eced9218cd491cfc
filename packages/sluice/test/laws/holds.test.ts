import { describe, expect, it } from 'vitest'
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

  /** Plain calls, waiters and holds on one bucket. Each entry is what started, and when. */
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
