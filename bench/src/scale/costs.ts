import { inChild } from '../in-child.ts'
import type { Part, PartOptions } from '../part.ts'
import { figure } from '../render/columns.ts'
import type { Plot } from '../result/plot.ts'
import type { Depth } from '../result/suite-result.ts'
import { median, ratiosOf, spreadOf } from '../result/statistics.ts'
import type { Column, Row, Table } from '../result/table.ts'
import type { CostsInput, CostsResult, Growing } from './costs-lanes.ts'
import { slopeOf } from './slope.ts'

interface Scenario {
  readonly growing: Growing
  readonly title: string
  readonly sizes: Readonly<Record<Depth, readonly number[]>>
}

const SCENARIOS: readonly Scenario[] = [
  {
    growing: 'keys',
    title: 'keys in the store, called at random',
    sizes: { quick: [100, 10_000, 1_000_000], full: [100, 1_000, 10_000, 100_000, 1_000_000] },
  },
  {
    growing: 'rules',
    title: 'rules of a policy, the last one matching',
    sizes: { quick: [1, 32, 1_000], full: [1, 3, 10, 32, 100, 320, 1_000] },
  },
  { growing: 'limits', title: 'limits of one request', sizes: { quick: [1, 4, 16], full: [1, 2, 4, 8, 16] } },
]

const COLUMNS: readonly Column[] = [
  { key: 'time', title: 'a decision', unit: 'ns' },
  { key: 'ratio', title: 'against the smallest', unit: 'x' },
]

/** The cost of a decision against keys, rules and limits, with the slope of each. */
export const costs: Part = {
  name: 'costs',
  title: 'the cost of a decision against keys, rules and limits, in the memory store',
  async run(options) {
    const [tables, plots]: [Table[], Plot[]] = [[], []]
    for (const scenario of SCENARIOS) {
      const { table, plot } = await measured(scenario, options)
      tables.push(table)
      plots.push(plot)
    }
    return { tables, plots }
  },
}

async function measured({ growing, title, sizes }: Scenario, { seconds, depth, say, atEnd }: PartOptions) {
  const chosen = sizes[depth]
  say(`${title}: ${chosen.map((size) => figure(size)).join(', ')}`)
  const input: CostsInput = { growing, sizes: chosen, seconds }
  const { lanes, overGrantPercent } = await inChild<CostsResult>('costs', input, { atEnd, family: 'scale' })
  const [first] = lanes
  const rows = lanes.map(({ rounds, calls, allowed, disturbed }, index): Row => {
    return {
      name: `${figure(chosen[index] ?? 0)} ${growing}`,
      kind: 'ours',
      cells: { time: spreadOf(rounds), ratio: ratiosOf(rounds, first?.rounds ?? rounds) },
      overGrant: overGrantPercent[index] as number,
      wrongAnswers: calls - allowed,
      ...(disturbed === undefined ? {} : { disturbed }),
    }
  })
  const points = lanes.map(({ rounds }, index) => ({ size: chosen[index] ?? 0, cost: median(rounds) }))
  const { exponent, perTenfold } = slopeOf(points)
  const slope: Row = { name: 'slope', kind: 'computed', cells: { time: `time ~ ${growing}^${exponent.toFixed(2)}`, ratio: perTenfold } }
  const table: Table = {
    name: growing,
    title: `time of a decision against ${title}`,
    first: growing,
    columns: COLUMNS,
    rows: [...rows, slope],
    notes: [
      'The row `slope` is a line fitted by least squares to the logarithms of size and time. Its ratio is the factor by which the time grows if the size grows tenfold. Over-grant was measured at each size, with a burst of 10.',
    ],
  }
  const plot: Plot = {
    name: growing,
    title: table.title,
    x: { title: growing, log: true },
    y: { title: 'nanoseconds', log: true },
    series: [
      {
        name: 'Sluice',
        kind: 'ours',
        points: lanes.map(({ rounds }, index) => {
          const { median: y, low, high } = spreadOf(rounds)
          return { x: chosen[index] ?? 0, y, low, high }
        }),
      },
    ],
  }
  return { table, plot }
}
