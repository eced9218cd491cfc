import { describe, expect, it } from 'vitest'
import { MICRO } from '../../src/algorithms/decimal.ts'
import { type AnyLimit, tokenBucket } from '../../src/index.ts'
import type { BucketPlan } from '../../src/algorithms/bucket-plan.ts'
import { regionalLimit } from '../../src/regions/rights/limit.ts'
import { createMeter, type Meter } from '../../src/regions/replicator/meter.ts'
import { createRegionNeeds, type RegionNeeds } from '../../src/regions/replicator/region-needs.ts'

const limit: AnyLimit = tokenBucket({ rate: '100/s', burst: 100 })
const bucket = regionalLimit(limit.plan as BucketPlan)
const SCOPE = { text: 's:l:tb:' }

interface Process {
  readonly meter: Meter
  readonly needs: RegionNeeds
  /** Counts calls of a key. */
  use(key: string, tokens: number, outcome?: 'allowed' | 'denied'): void
}

/** Processes of one region that publish to one shared map. Time passes half a second at a time. */
function processes(count: number) {
  const entries = new Map<string, string>()
  let now = 0
  const all = Array.from({ length: count }, (_, index): Process => {
    const meter = createMeter(
      1_000,
      () => bucket,
      () => now,
    )
    const share = async (name: string, entry: object | undefined): Promise<readonly unknown[]> => {
      if (entry === undefined) entries.delete(name)
      else entries.set(name, JSON.stringify(entry))
      return [...entries].filter(([other]) => other !== name).map(([, text]) => JSON.parse(text) as unknown)
    }
    return {
      meter,
      needs: createRegionNeeds(share, meter, `p${index}`, 1),
      use(key, tokens, outcome = 'denied') {
        const calls = [{ id: { scope: SCOPE, key }, limit, cost: tokens * MICRO, phase: 0 }]
        meter.count({ calls }, { outcome, calls: [{ outcome }] } as never)
      },
    }
  })
  const pass = async (): Promise<void> => {
    now += 500
    for (const { meter, needs } of all) {
      meter.roll()
      await needs.refresh()
    }
  }
  const sums = (key: string): readonly unknown[] =>
    all.map(({ meter, needs }) => {
      const metered = meter.find({ scope: SCOPE, key })
      return metered && [needs.sumOf(metered), needs.isWhole(metered)]
    })
  return { all, entries, pass, sums }
}

describe('what the processes of a region need together', () => {
  it('is the sum of all, also of those whose calls are not denied, once each has counted the key', async () => {
    const { all, pass, sums } = processes(3)
    const [one, two] = all as [Process, Process, Process]
    await pass()
    one.use('k', 20)
    // The second process counts this call although it passes, because the first one has published the key.
    two.use('k', 10, 'allowed')
    await pass()
    expect(sums('k')).toEqual([
      [400, false],
      [undefined, false],
      [undefined, false],
    ])
    one.use('k', 20)
    two.use('k', 10, 'allowed')
    await pass()
    await pass()
    one.use('k', 20)
    two.use('k', 10, 'allowed')
    await pass()
    await pass()
    expect(sums('k').map((sum) => (sum as unknown[])[1])).toEqual([true, true, true])
    expect(sums('other')).toEqual([undefined, undefined, undefined])
  })

  it('is at most the whole limit, without a process that has ended', async () => {
    const { all, pass, sums, entries } = processes(2)
    for (let round = 0; round < 3; round += 1) {
      for (const one of all) one.use('k', 40)
      await pass()
    }
    expect(sums('k')).toEqual([
      [1_000, true],
      [1_000, true],
    ])
    await all[1]?.needs.end()
    expect(entries.size).toBe(1)
    all[0]?.use('k', 40)
    await all[0]?.needs.refresh()
    const metered = all[0]?.meter.find({ scope: SCOPE, key: 'k' })
    expect(metered && all[0]?.needs.sumOf(metered)).toBe(800)
  })

  it('forgets a key that nobody calls and no peer requests, and counts again one that a peer requests', async () => {
    const { all, pass, sums } = processes(2)
    const [one] = all as [Process, Process]
    one.use('k', 20)
    for (let window = 0; window < 70; window += 1) await pass()
    expect(sums('k')).toEqual([undefined, undefined])
    for (let window = 0; window < 150; window += 1) {
      const metered = one.meter.find({ scope: SCOPE, key: 'k' }) ?? one.meter.watch({ scope: SCOPE, key: 'k' }, limit, bucket)
      if (metered !== undefined) metered.requested = 0
      await pass()
    }
    // A process that forgets the key counts it again, because the other process wants it. So both know the sum.
    expect(sums('k').every((sum) => sum !== undefined)).toBe(true)
  })

  it('is known as long as one process needs the key, also where it has no calls', async () => {
    const { all, pass, sums } = processes(2)
    for (let window = 0; window < 150; window += 1) {
      all[0]?.use('k', 20)
      await pass()
      if (window > 3)
        expect(sums('k')).toEqual([
          [400, true],
          [400, true],
        ])
    }
  })

  it('leaves out what a process has no room for, and entries of another version', async () => {
    const { all, pass, sums, entries } = processes(2)
    for (let round = 0; round < 3; round += 1) {
      for (let key = 0; key < 300; key += 1) all[0]?.use(`k${key}`, 10)
      await pass()
    }
    expect(sums('k0')).toEqual([
      [200, true],
      [200, true],
    ])
    expect(sums('k299')).toEqual([[200, true], undefined])
    entries.set('newer', JSON.stringify({ version: 2, keys: 5 }))
    await pass()
    expect(sums('k0')[0]).toEqual([expect.any(Number), true])
  })
})
