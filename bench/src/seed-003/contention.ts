import type { Point, Plot, Series } from '../result/plot.ts'
import { median, ratiosOf, spreadOf } from '../result/statistics.ts'
import { type Column, isSpread, type Row, type Table } from '../result/table.ts'
import { ALLOWED, wrongAnswersOf } from '../profiles.ts'
import type { RedisOptions, RedisPart } from '../redis/redis-part.ts'
import { wayOf } from '../redis/ways.ts'
import { ARTICLE_NAMES, HOT_KEY, isArticleWay, PER_USER } from './article.ts'
import { type Load, loadsOf, textOf } from './loads.ts'
import { type Lane, lanesUnder } from './measured.ts'

/** A load with its lanes (measured limiters). The first lane is the baseline. */
export interface Measured {
  readonly load: Load
  readonly lanes: readonly Lane[]
}

const COLUMNS: readonly Column[] = [
  { key: 'time', title: 'an operation', unit: 'ns' },
  { key: 'ratio', title: 'against Lua', unit: 'x' },
  { key: 'calls', title: 'store calls', decimals: 2 },
  { key: 'p50', title: 'p50', unit: 'us', decimals: 0 },
  { key: 'p99', title: 'p99', unit: 'us', decimals: 0 },
  { key: 'bytes', title: 'allocated', unit: 'bytes' },
  { key: 'allocations', title: 'allocations' },
  { key: 'total', title: 'total' },
  { key: 'errors', title: 'errors', unit: '%' },
]

const LIMITED_COLUMNS: readonly Column[] = [
  { key: 'total', title: 'total' },
  { key: 'allowed', title: 'allowed' },
  { key: 'errors', title: 'errors' },
  { key: 'maximum', title: 'at most' },
]

const NOTES = [
  'The column `an operation` is the wall time of a batch with all callers, divided by its decided requests. Medians and quartiles are those of all batches. In the article’s rows it is ns/op.',
  'The column `store calls` counts round trips for each request, where a transaction from MULTI to EXEC is one. The article counts Redis commands instead, and its row for WATCH includes failed tries.',
  'The columns `p50` and `p99` are latencies. They come from separate batches, because reading the clock twice for each request would make the timed batches slower.',
  'The column `allocated` is bytes of JavaScript objects for each decided request, those of the client library included. It is the growth of V8’s heap plus what each garbage collection freed.',
  'The column `allocations` is filled for the article only (allocs/op of Go), because V8 does not count objects. The column `errors` counts requests without a decision, such as those that WATCH gave up after 20 tries.',
]

/**
 * The benchmark of the article "Benchmarking Token Bucket Rate Limiters": both of its scenarios at its numbers of callers, next to the
 * article's figures.
 */
export const contention: RedisPart = {
  name: 'contention',
  title: 'hot_key and per_user, from 1 to 256 callers, all allowed',
  async run(options) {
    const hot = await measured(options, 'hot_key')
    const own = await measured(options, 'per_user')
    return {
      tables: [
        { ...tableOf(hot), name: 'hot-key', title: 'hot_key: all callers share a key', notes: NOTES },
        { ...tableOf(own), name: 'per-user', title: 'per_user: each caller has its own key' },
        limitedTable(hot),
      ],
      plots: [...plotsOf('hot-key', 'hot_key', hot), ...plotsOf('per-user', 'per_user', own)],
    }
  },
}

async function measured(options: RedisOptions, scenario: Load['scenario']): Promise<Measured[]> {
  const all: Measured[] = []
  for (const load of loadsOf(options.depth, scenario)) all.push({ load, lanes: await lanesUnder(options, load) })
  return all
}

/** Makes the rows of all loads. A contestant that is also in the article is followed by the article's own figures. */
export function tableOf(all: readonly Measured[]): Pick<Table, 'columns' | 'rows' | 'rank'> {
  const rows = all.flatMap(({ load, lanes }) => lanes.flatMap((lane) => [rowOf(load, lane, lanes[0] as Lane), ...quotedRow(load, lane)]))
  return { columns: COLUMNS, rows, rank: { column: 'time', best: 'least' } }
}

function rowOf(load: Load, { way, timed, samples, grant }: Lane, first: Lane): Row {
  const { name, rounds, total, allowed, errors, storeCalls, disturbed } = timed
  return {
    name,
    load: textOf(load),
    kind: wayOf(way).kind as 'ours',
    cells: {
      time: spreadOf(rounds.map(({ wall }) => wall)),
      ratio: ratiosOf(
        rounds.map(({ wall }) => wall),
        first.timed.rounds.map(({ wall }) => wall),
      ),
      calls: storeCalls,
      p50: median(samples.map(({ p50 }) => p50)),
      p99: median(samples.map(({ p99 }) => p99)),
      bytes: median(samples.map(({ bytes }) => bytes)),
      total,
      errors: (errors / total) * 100,
    },
    overGrant: grant.overGrantPercent,
    wrongAnswers: wrongAnswersOf(ALLOWED, { calls: total - errors, allowed }),
    ...(disturbed === undefined ? {} : { disturbed }),
  }
}

function quotedRow({ scenario, callers }: Load, { way }: Lane): Row[] {
  if (!isArticleWay(way)) return []
  const line = (scenario === 'hot_key' ? HOT_KEY : PER_USER)[way][callers]
  if (line === undefined) return []
  const { nanoseconds, calls, iterations, allocations } = line
  const cells = { time: nanoseconds, calls, total: iterations, allocations }
  return [{ name: `${ARTICLE_NAMES[way]} in the article`, load: textOf({ scenario, callers }), kind: 'quoted', cells }]
}

/** What each limiter lets through at each number of callers under a limit that is reached. */
function limitedTable(all: readonly Measured[]): Table {
  const rows = all.flatMap(({ load, lanes }) =>
    lanes.map(({ way, grant }): Row => {
      const { name, total, allowed, errors, maximum, overGrantPercent } = grant
      const cells = { total, allowed, errors, maximum }
      return { name, load: textOf(load), kind: wayOf(way).kind as 'ours', cells, overGrant: overGrantPercent }
    }),
  )
  return {
    name: 'limited',
    title: 'what passes under burst 10, 10/s, by callers on one key',
    columns: LIMITED_COLUMNS,
    rows,
    notes: [
      'The rows of the tables `hot_key` and `per_user` take their over-grant from this table, from the row with as many callers on one key. Under `per_user` that is one caller.',
      'The column `at most` is burst + rate * time until the last answer, rounded down. Over-grant is that of the worst interval by the server’s clock.',
    ],
  }
}

/** Time and store calls over callers, measured and as the article states them. */
export function plotsOf(name: string, scenario: Load['scenario'], all: readonly Measured[]): Plot[] {
  const x = { title: 'callers', log: true }
  return [
    {
      name: `${name}-time`,
      title: `${scenario}: time of an operation over callers`,
      x,
      y: { title: 'ns', log: true },
      series: seriesOf(all, 'time'),
    },
    {
      name: `${name}-calls`,
      title: `${scenario}: store calls of a request over callers`,
      x,
      y: { title: 'store calls', log: true },
      series: seriesOf(all, 'calls'),
    },
  ]
}

function seriesOf(all: readonly Measured[], column: 'time' | 'calls'): Series[] {
  const series = new Map<string, { kind: Series['kind']; points: Point[] }>()
  for (const { load, lanes } of all) {
    for (const { name, kind, cells } of tableOf([{ load, lanes }]).rows) {
      const cell = cells[column]
      const one = series.get(name) ?? { kind, points: [] }
      series.set(name, one)
      const x = load.callers
      if (isSpread(cell ?? '')) one.points.push({ x, ...pointOf(cell as { low: number; median: number; high: number }) })
      else if (typeof cell === 'number') one.points.push({ x, y: cell })
    }
  }
  return [...series].map(([name, { kind, points }]) => ({ name, kind, points }))
}

function pointOf({ low, median: y, high }: { low: number; median: number; high: number }): Omit<Point, 'x'> {
  return { y, low, high }
}
