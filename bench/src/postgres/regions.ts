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
/** The share of a comparison's usual seconds, because there are many lanes and audits. */
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
        'One hot key. Both regions are in one database, with tables of their own. The measured one decides by a half of a limit that is twice as large, so all ways have one quota; the audit is by that.',
        'No replicator runs in the comparisons, so nothing is counted for peers. Bytes are those of the table of rows with its indexes; those of a key that did both, after VACUUM FULL. Keys have 24 characters.',
      ],
    }
  },
}
