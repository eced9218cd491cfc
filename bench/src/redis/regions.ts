import { inChild } from '../in-child.ts'
import { ALLOWED } from '../profiles.ts'
import { type RegionWork, type RegionWorkInput, workReadings } from '../region-work.ts'
import type { Reading } from '../result/reading.ts'
import type { Table } from '../result/table.ts'
import { compare, judge } from './comparison.ts'
import type { RedisPart } from './redis-part.ts'

const CELLS = { quick: 200, full: 2_000 } as const
const KEYS = 100
/** The loads of a quick run and of a full one: the number of callers, and `one` key for all or a random one of KEYS keys. */
const LOADS = {
  quick: [[64, 'one']],
  full: [
    [1, 'one'],
    [64, KEYS],
  ],
} as const
/** This part spends only this share of the usual seconds on a comparison, because it measures many limiters, and the over-grant of each. */
const PART = 0.5
const GOAL = { atMost: 1.1 }

/** Measures what a decision of one of several regions costs, and what regions write for each other. */
export const regions: RedisPart = {
  name: 'regions',
  title: 'a decision of one of two regions against one without regions, and what regions write for each other',
  async run(options) {
    const readings: Reading[] = []
    const tables: Table[] = []
    for (const [callers, keys] of LOADS[options.depth]) {
      const at = `${callers === 1 ? '1 caller' : `${callers} callers`}, ${keys === 'one' ? 'one key' : `${keys} keys`}`
      options.say(at)
      const comparison = await compare({ ...options, seconds: options.seconds * PART }, ALLOWED, {
        single: { way: 'sluice', callers, keys },
        fixed: { way: 'region-fixed', callers, keys },
        escrow: { way: 'region-escrow', callers, keys },
        rows: { way: 'region-rows', callers, keys },
      })
      readings.push(
        judge(comparison, { name: `fixed part, ${at}`, ours: 'fixed', baseline: 'single', as: 'time' }),
        judge(comparison, { name: `escrow, ${at}`, ours: 'escrow', baseline: 'single', as: 'time', goal: GOAL }),
        judge(comparison, { name: `escrow, units sent, ${at}`, ours: 'rows', baseline: 'single', as: 'time', goal: GOAL }),
      )
      tables.push({ ...comparison.table, name: `lanes-${callers}-${keys}`, title: at })
    }
    options.say('what regions write')
    const input: RegionWorkInput = { url: options.server.url, cells: CELLS[options.depth] }
    readings.push(...workReadings(await inChild<RegionWork>('region-work', input, { ...options, family: 'redis' })))
    return {
      readings,
      tables,
      notes: [
        'The two regions are on one server. Their limit is twice that of the way without regions, and the measured region has a half. So all ways have the same quota, and their over-grant is measured against this quota.',
        'The ring (batches, breaker and caches around the store) has its defaults, but no leases: regions with escrow grant none. While decisions are timed, no replicator runs (the part that sends units to the other region), so its cost is not included.',
        'The bytes of a key (MEMORY USAGE) are its part of the hash of rows and of the sorted sets that order rows by their last change. The key’s bucket is not included. A row says which units of a key were sent and received. Keys have 24 characters.',
      ],
    }
  },
}
