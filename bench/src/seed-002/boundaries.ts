import { inChild } from '../in-child.ts'
import { contestantOf } from '../memory/contestants/all.ts'
import type { Part } from '../part.ts'
import type { Plot, Series } from '../result/plot.ts'
import type { Column, Row, Table } from '../result/table.ts'
import { type BoundaryInput, type BoundaryResult, TEN_A_MINUTE } from './boundary.ts'
import { IN_PROCESS } from './contestants.ts'
import { BOUNDARY_LOADS } from './loads.ts'

/**
 * What each limiter allows around the ends of windows and after idle times, on a controlled clock. The figures are the same in every run.
 */
export const boundary: Part = {
  name: 'boundary',
  title: 'what passes at the ends of windows and after idle times: 10 requests a minute',
  async run(options) {
    options.say(`${BOUNDARY_LOADS.length} loads on ${IN_PROCESS.length} limiters`)
    const input: BoundaryInput = { contestants: IN_PROCESS }
    const results = await inChild<BoundaryResult[]>('boundary', input, { ...options, family: 'seed-002' })
    return {
      tables: [boundaryTable(results)],
      plots: BOUNDARY_LOADS.filter(({ drawn }) => drawn).map(({ name }, index) => admittedPlot(`admitted-${index + 1}`, name, results)),
      notes: [
        'The bench moves the clock, so every run gives the same figures. Over-grant is what passed beyond the limiter’s own promise. A fixed window promises no more than twice its limit around the end of a window.',
        'The article’s bucket grants a request only if more than 0 tokens are left after it. So it grants only 9 of the 10 tokens of a full bucket at once. It grants the last token when a part of the next one has been refilled.',
      ],
    }
  },
}

const COLUMNS: readonly Column[] = [
  { key: 'offered', title: 'requests' },
  { key: 'allowed', title: 'allowed' },
  { key: 'exact', title: 'an exact one allows' },
  { key: 'under', title: 'denied too many', unit: '%' },
  { key: 'minute', title: 'most in a minute' },
  { key: 'limit', title: 'of' },
]

/**
 * Makes the table. Each limiter of the article is followed by Sluice's limiter of the same kind, which shows what an exact limiter allows.
 */
export function boundaryTable(results: readonly BoundaryResult[]): Table {
  const rows = results.map((result): Row => {
    const { load, contestant, offered, allowed, worstMinute, overGrantPercent } = result
    const { name, kind } = contestantOf(contestant)
    const counterpart = IN_PROCESS[IN_PROCESS.indexOf(contestant) | 1]
    const exact = results.find((other) => other.load === load && other.contestant === counterpart)?.allowed.length ?? Number.NaN
    const cells = {
      offered,
      allowed: allowed.length,
      exact,
      under: Math.max(0, 1 - allowed.length / exact) * 100,
      minute: worstMinute,
      limit: TEN_A_MINUTE.burst,
    }
    return { name, load, kind: kind as 'ours', cells, overGrant: overGrantPercent }
  })
  return { name: 'boundary', title: 'requests allowed', columns: COLUMNS, rows }
}

/** The requests that each limiter has allowed so far, over time. */
export function admittedPlot(name: string, load: string, results: readonly BoundaryResult[]): Plot {
  const series = results
    .filter((result) => result.load === load)
    .map(({ contestant, allowed }): Series => {
      const { kind, name: title } = contestantOf(contestant)
      // Requests at one instant are one step.
      const counts = new Map(allowed.map((at, index) => [at, index + 1]))
      const first = allowed[0] ?? 0
      return { name: title, kind, points: [{ x: first / 1_000, y: 0 }, ...[...counts].map(([at, y]) => ({ x: at / 1_000, y }))] }
    })
  return { name, title: `allowed so far: ${load}`, x: { title: 'seconds' }, y: { title: 'requests' }, series, steps: true }
}
