import type { Plot } from '../src/result/plot.ts'
import type { Reading } from '../src/result/reading.ts'
import type { SuiteResults } from '../src/result/suite-result.ts'
import type { Column, Row, Table } from '../src/result/table.ts'
import { partOf } from './part-results.ts'

/** How much of each thing an imaginary run measured. */
export interface Amounts {
  readonly suites: number
  readonly parts: number
  readonly loads: number
  readonly readings: number
}

/** More than a full run measures: about 100 tables with about 1,500 rows. */
export const FULL: Amounts = { suites: 14, parts: 7, loads: 2, readings: 4 }

const WAYS: readonly (readonly [string, Row['kind']])[] = [
  ['Sluice', 'ours'],
  ['Sluice with strict leases and a key for each caller', 'ours'],
  ['Lua EVALSHA, as in the article', 'baseline'],
  ['  in the article', 'quoted'],
  ['rate-limiter-flexible', 'peer'],
  ['multi-command', 'peer'],
  ['one call of an empty program', 'floor'],
  ['ten machines of this kind', 'computed'],
]
const COLUMNS: readonly Column[] = [
  { key: 'time', title: 'a request', unit: 'us' },
  { key: 'ratio', title: 'against the first', unit: 'x' },
  { key: 'p99', title: 'p99', unit: 'us' },
  { key: 'client', title: 'cpu client', unit: 'us' },
  { key: 'calls', title: 'calls a request', decimals: 3 },
  { key: 'errors', title: 'errors', unit: '%' },
]

/** Results of imaginary suites, with everything that a report shows. The same at each call. */
export function fullResults({ suites, parts, loads, readings }: Amounts): SuiteResults[] {
  let seed = 1
  // A generator of Lehmer: any sequence serves, if its numbers differ.
  const random = (): number => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647
  const spread = (at: number) => ({ low: at * 0.9, median: at, high: at * (1.05 + random() / 5) })
  const row = (name: string, kind: Row['kind'], load: string): Row => {
    const cells = {
      time: spread(10 ** (1 + 4 * random())),
      ratio: spread(random() * 3),
      p99: spread(2_000 * random()),
      client: random() * 50,
      calls: random(),
      errors: 0,
    }
    if (kind === 'floor' || kind === 'quoted' || kind === 'computed') return { name, kind, load, cells: { time: cells.time.median } }
    const wrong = name === 'multi-command'
    return {
      name,
      kind,
      load,
      cells,
      overGrant: wrong ? 207.5 : 0,
      ...(random() < 0.3 ? { disturbed: 'other processes 41 %, steal 3 %' } : {}),
    }
  }
  const table = (): Table => ({
    name: 'lanes',
    title: 'all ways, all allowed, burst 10^7',
    columns: COLUMNS,
    rows: Array.from({ length: loads }, (_, load) => WAYS.map(([name, kind]) => row(name, kind, `hot_key, ${4 ** load} callers`))).flat(),
    rank: { column: 'time', best: 'least' },
    notes: ['Time that passed for each request, while those of other callers were under way; medians and quartiles of the rounds.'],
  })
  const plot = (): Plot => ({
    name: 'callers',
    title: 'time of a request over callers',
    x: { title: 'callers', log: true },
    y: { title: 'a request (us)', log: true },
    series: WAYS.slice(0, 5).map(([name, kind]) => ({
      name: name.trim(),
      kind: kind as 'ours',
      points: [1, 16, 64, 256].map((x) => {
        const { low, median: y, high } = spread(100 * random() * x)
        return { x, y, low, high }
      }),
    })),
  })
  const reading = (index: number): Reading => ({
    name: `decisions a second, ${index} of them`,
    profile: 'denied flood',
    unit: 'x',
    value: random() * 3,
    spread: spread(1),
    goal: { atMost: 2 },
    floor: { value: 0.8, what: 'the clock alone' },
    ours: '131 ns',
    baseline: 'Map 63 ns',
    overGrantPercent: 0,
  })
  const part = (index: number): SuiteResults['parts'][number] => ({
    ...partOf(`part-${index}`),
    disturbed: 'other processes 12 %',
    readings: Array.from({ length: readings }, (_, at) => ({ ...reading(at), mark: 'reached' as const })),
    tables: [table()],
    plots: [plot()],
    notes: ['The first lane is the baseline. A denial counts as an answer, and an error does not.'],
  })
  return Array.from({ length: suites }, (_, index) => ({
    format: 1,
    suite: `suite-${index}`,
    title: 'three ways of keeping a token bucket in Redis, and Sluice',
    document: 'Benchmarking Token Bucket Rate Limiters',
    parts: Array.from({ length: parts }, (__, at) => part(at)),
  }))
}
