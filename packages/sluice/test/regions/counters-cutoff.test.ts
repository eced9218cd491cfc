import { describe, expect, it } from 'vitest'
import { createLimiter, memoryStore, tokenBucket } from '../../src/index.ts'
import { regionalStore, replicate, type Replicator } from '../../src/regions.ts'
import { manualClock } from '../../src/time/manual.ts'

const LEAST_MS = 2_000

function counting(cutoffMs: number, peers: readonly string[] = ['us'], self = 'eu', clock = manualClock()) {
  return { clock, store: regionalStore({ store: memoryStore({ clock }), self, peers, mode: 'counters', cutoffMs }) }
}

/** The phases of one of two regions in 20 s. Their waits are as long as they may be; `lost` is the number of its request without an answer. */
async function phasesOf(cutoffMs: number, travelMs: number, lost?: number): Promise<Set<string | undefined>> {
  const clock = manualClock()
  const travel = (): Promise<void> => new Promise((resolve) => void clock.after(travelMs, resolve))
  const replicators = new Map<string, Replicator>()
  let requests = 0
  for (const [self, peer] of [
    ['eu', 'us'],
    ['us', 'eu'],
  ] as const) {
    const { store } = counting(cutoffMs, [peer], self, clock)
    const transport = async (to: string, request: unknown): Promise<unknown> => {
      if (self === 'eu' && ++requests === lost) return new Promise(() => {})
      await travel()
      return replicators.get(to)?.answer(request)
    }
    replicators.set(self, replicate({ store, transport, clock, random: () => 0.999 }))
  }
  const phases = new Set<string | undefined>()
  for (let ms = 0; ms < 20_000; ms += 50) {
    clock.advance(50)
    await new Promise((resolve) => setImmediate(resolve))
    if (ms > 1_000) phases.add(replicators.get('eu')?.status().phase)
  }
  for (const replicator of replicators.values()) await replicator.close()
  if (lost !== undefined) expect(requests).toBeGreaterThan(lost)
  return phases
}

describe('a cutoff of counters', () => {
  it('does not cut off healthy regions at its least, whose pulls wait as long as they may', async () => {
    expect(await phasesOf(LEAST_MS, 200)).toEqual(new Set(['open']))
  })

  it('of eight seconds does not cut a region off for one lost request, which ends after five', async () => {
    expect(await phasesOf(8_000, 100, 5)).toEqual(new Set(['open']))
    expect(await phasesOf(6_000, 100, 5)).toEqual(new Set(['open', 'learning']))
  })

  it('is refused where two pulls do not fit into it', async () => {
    expect(() => counting(LEAST_MS - 1)).toThrow('regionalStore: cutoffMs is 1999, expected 2000 to 86400000')
    const { clock, store } = counting(3_000)
    const transport = (): Promise<unknown> => new Promise(() => {})
    expect(() => replicate({ store, transport, clock, periodMs: 1_501 })).toThrow(
      "replicate: periodMs is 1501, expected at most half of the store's cutoffMs, 3000",
    )
    await replicate({ store, transport, clock, periodMs: 1_500 }).close()
  })

  it('does not concern a region without peers', async () => {
    const { clock, store } = counting(LEAST_MS, [])
    const limiter = createLimiter({ limit: tokenBucket({ rate: '1/h', burst: 100 }), store, clock })
    const replicator = replicate({ store, transport: async () => undefined, clock, periodMs: 60_000 })
    for (let minute = 0; minute < 3; minute += 1) clock.advance(60_000)
    expect(replicator.status()).toMatchObject({ phase: 'open', units: 1_000 })
    expect((await limiter.check('k', { cost: 100 })).outcome).toBe('allowed')
    await replicator.close()
  })
})
