import { inChild } from '../in-child.ts'
import type { Part } from '../part.ts'
import { judge } from '../redis/comparison.ts'
import { type RegionWork, type RegionWorkInput, workReadings } from '../region-work.ts'
import type { Reading } from '../result/reading.ts'
import type { Table } from '../result/table.ts'
import { comparedOn, onPostgres } from './parts.ts'

/** Keys whose rows are measured. Rows take whole pages of 8 kB, so with few rows each would seem large. */
const CELLS = 2_000
const CALLERS = { quick: [32], full: [1, 32] } as const
const WAYS = ['sluice', 'region_escrow', 'region_rows'] as const
/** This part spends only this share of the usual seconds on a comparison, because it measures many limiters, and the over-grant of each. */
const PART = 0.5
const GOAL = { atMost: 1.1 }

/** Measures what a decision of one of several regions costs, and what regions write for each other. */
export const regions: Part = {
  name: 'regions',
  title: 'a decision of one of two regions against one without regions, and what regions write for each other',
  async run(partOptions) {
    const options = await onPostgres(partOptions)
    const readings: Reading[] = []
    const tables: Table[] = []
    for (const callers of CALLERS[options.depth]) {
      const at = callers === 1 ? '1 connection' : `${callers} connections`
      options.say(at)
      const comparison = await comparedOn({ ...options, seconds: options.seconds * PART }, callers, WAYS)
      readings.push(
        judge(comparison, { name: `escrow, ${at}`, ours: 'region_escrow', baseline: 'sluice', as: 'time', goal: GOAL }),
        judge(comparison, { name: `escrow, units sent, ${at}`, ours: 'region_rows', baseline: 'sluice', as: 'time', goal: GOAL }),
      )
      tables.push({ ...comparison.table, name: `lanes-${callers}`, title: at })
    }
    options.say('what regions write')
    const input: RegionWorkInput = { url: options.url, cells: CELLS }
    readings.push(...workReadings(await inChild<RegionWork>('region-work', input, { ...options, family: 'postgres' })))
    return {
      readings,
      tables,
      notes: [
        'All timed requests have one key. The two regions are in one database, each with its own tables. The limit of the regions is twice that of the way without regions, and the measured region has a half. So all ways have the same quota, and their over-grant is measured against this quota.',
        'While decisions are timed, no replicator runs, so the time does not include its cost. A replicator sends units (parts of a key’s limit) to the other region.',
        'The bytes of a key are its part of the region’s table with indexes. For `a key that did both with two peers`, they were measured after VACUUM FULL. Keys have 24 characters.',
      ],
    }
  },
}
