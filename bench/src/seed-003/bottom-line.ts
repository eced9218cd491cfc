import { median } from '../result/statistics.ts'
import type { Column, Row, Table } from '../result/table.ts'
import type { Grant } from '../redis/grants.ts'
import type { RedisPart } from '../redis/redis-part.ts'
import { wayOf } from '../redis/ways.ts'
import { ARTICLE_NAMES, BOTTOM_LINE, isArticleWay } from './article.ts'
import { LOADS, type Load } from './loads.ts'
import { type Lane, lanesUnder, testOf } from './measured.ts'

/** A way's figures that its line is made from. */
export interface Line {
  /** The measurements of the limiter with a single caller, and those with 64 callers on one key. */
  readonly alone: Lane
  readonly contended: Lane
  readonly test: Grant
}

/** Fewer than this share of the permitted number is under-throughput. */
const FEW = 0.9
/** More undecided requests than this share are under-throughput. */
const UNDECIDED = 0.01
/** A limiter retries if a request takes more than this multiple of its round trips without contention. */
const RETRIES = 1.5

const COLUMNS: readonly Column[] = [
  { key: 'correctness', title: 'correctness' },
  { key: 'throughput', title: 'throughput' },
  { key: 'complexity', title: 'complexity' },
  { key: 'ofLimit', title: 'of the limit', unit: '%' },
  { key: 'undecided', title: 'undecided', unit: '%' },
  { key: 'time', title: 'an operation', unit: 'ns' },
  { key: 'alone', title: 'trips alone', decimals: 2 },
  { key: 'contended', title: 'trips contended', decimals: 2 },
  { key: 'connections', title: 'connections' },
]

/** The table "Bottom Line" of the article "Benchmarking Token Bucket Rate Limiters", made from the figures of this run. */
export const bottomLine: RedisPart = {
  name: 'bottom-line',
  title: 'the article’s table “Bottom Line”, made from the figures of this run',
  async run(options) {
    const [alone, contended] = [1, 64].map(
      (callers) => LOADS.find((load) => load.scenario === 'hot_key' && load.callers === callers) as Load,
    )
    const [few, many] = [await lanesUnder(options, alone as Load), await lanesUnder(options, contended as Load)]
    const lines: Line[] = []
    for (const [index, lane] of many.entries()) {
      options.say(wayOf(lane.way).name)
      lines.push({ alone: few[index] as Lane, contended: lane, test: await testOf(options, lane.way) })
    }
    return { tables: [bottomLineTable(lines)] }
  },
}

export function bottomLineTable(lines: readonly Line[]): Table {
  const times = lines.map(({ contended }) => timeOf(contended))
  const order = times.toSorted((a, b) => a - b)
  return {
    name: 'bottom-line',
    title: 'Bottom Line',
    columns: COLUMNS,
    rows: lines.flatMap((line, index) => rowsOf(line, order.indexOf(times[index] as number) + 1, lines.length)),
    notes: [
      `Correctness is judged by the test of the part \`over-grant\`. A way is “exact” if it has no over-grant, let at least ${FEW * 100} % of the limit pass, and left at most ${UNDECIDED * 100} % undecided.`,
      'Throughput is the rank by the time of an operation, with 64 callers on one key and all requests allowed.',
      `Complexity is “high” if each caller needs its own connection. It is also “high” if a request needs more than ${RETRIES} times as many round trips with 64 callers as with one, even if both are shown as 0.00. Otherwise it is “low”.`,
      'The column `of the limit` is what was allowed in the test, in percent of burst + rate * time. The columns `trips` count round trips to the store for each request, with one caller (`alone`) and with 64 (`contended`).',
    ],
  }
}

function timeOf({ timed }: Lane): number {
  return median(timed.rounds.map(({ wall }) => wall))
}

function rowsOf(line: Line, rank: number, of: number): Row[] {
  const { alone, contended, test } = line
  const { way, timed } = contended
  const cells = {
    correctness: correctnessOf(test),
    throughput: throughputOf(rank, of),
    complexity: complexityOf(line),
    ofLimit: (test.allowed / test.maximum) * 100,
    undecided: (test.errors / test.total) * 100,
    time: timeOf(contended),
    alone: alone.timed.storeCalls,
    contended: timed.storeCalls,
    connections: test.connections,
  }
  const row: Row = { name: timed.name, kind: wayOf(way).kind as 'ours', cells, overGrant: test.overGrantPercent }
  return isArticleWay(way) ? [row, { name: `${ARTICLE_NAMES[way]} in the article`, kind: 'quoted', cells: BOTTOM_LINE[way] }] : [row]
}

export function correctnessOf({ overGrantPercent, allowed, maximum, errors, total }: Grant): string {
  if (overGrantPercent > 0) return 'over-grants'
  const few = allowed < maximum * FEW
  return few || errors > total * UNDECIDED ? 'correct (but under-throughput)' : 'exact'
}

function throughputOf(rank: number, of: number): string {
  const place = `${rank} of ${of}`
  if (rank === 1) return `best (${place})`
  return rank === of ? `worst (${place})` : place
}

export function complexityOf({ alone, contended, test }: Line): 'low' | 'high' {
  return test.connections > 1 || contended.timed.storeCalls > alone.timed.storeCalls * RETRIES ? 'high' : 'low'
}
