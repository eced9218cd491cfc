import type { PartResult } from '../part.ts'
import { figure } from '../render/columns.ts'
import type { Plot } from '../result/plot.ts'
import { differencesOf, type Spread, spreadOf } from '../result/statistics.ts'
import type { Cell, Column, Row, Table } from '../result/table.ts'
import type { LaneRounds } from './arrivals.ts'
import { ARTICLE } from './article.ts'
import { type Compared, TERMS } from './compared.ts'
import { driftPercent, worstPercent } from './drifts.ts'
import { type Climb, SHARES } from './steps.ts'

/** The floor of the comparison: a request that decides nothing. */
export interface ComparedFloor {
  readonly latency: LaneRounds
  readonly climbs: readonly Climb[]
}

const COLUMNS: readonly Column[] = [
  { key: 'bytes', title: `bytes of ${figure(TERMS.KEYS)} keys` },
  { key: 'p50', title: 'p50 added', unit: 'ms', decimals: 3 },
  { key: 'p99', title: 'p99 added', unit: 'ms', decimals: 3 },
  { key: 'boundary', title: 'drift, end of a window', unit: '%', decimals: 1 },
  { key: 'flood', title: `drift, ${figure(TERMS.FLOOD.perSecond)}/s`, unit: '%', decimals: 1 },
  { key: 'scales', title: `a second until p99 is ${TERMS.BOUND_MS} ms` },
  { key: 'ended', title: 'ended by' },
  { key: 'undecided', title: 'undecided', unit: '%' },
]
const BURST_COLUMNS: readonly Column[] = [
  { key: 'once', title: 'of a burst at once', unit: '%', decimals: 0 },
  { key: 'later', title: 'again half a window later', unit: '%', decimals: 0 },
  { key: 'boundary', title: 'most in a window’s length, around an end', unit: '%', decimals: 0 },
  { key: 'pressed', title: 'the same, with pressure after it', unit: '%', decimals: 0 },
  { key: 'undecided', title: 'undecided' },
]
const MATRIX_COLUMNS: readonly Column[] = [
  { key: 'approach', title: 'approach' },
  { key: 'bytes', title: `bytes of ${figure(TERMS.KEYS)} keys` },
  { key: 'p99', title: 'p99', unit: 'ms', decimals: 3 },
  { key: 'once', title: 'of a burst at once', unit: '%', decimals: 0 },
  { key: 'pressed', title: 'most in a window’s length', unit: '%', decimals: 0 },
]

/**
 * Three scenarios of the decision matrix in the article "Rate Limiting at Scale". Each has the approach that the article recommends, and
 * the limiter of Sluice that uses this approach.
 */
const SCENARIOS = [
  { scenario: 'High Burst, Fair Usage', approach: 'token bucket', way: 'sluice' },
  { scenario: 'Strict Accuracy Required', approach: 'sliding window log', way: 'log' },
  { scenario: 'Cost-Sensitive, Approximate', approach: 'sliding window counter', way: 'counter' },
] as const

/** Makes tables, plots and notes of what was measured. */
export function comparisonResult(found: readonly Compared[], floor: ComparedFloor): PartResult {
  const main: Table = {
    name: 'comparison',
    title: 'the article’s comparison, measured',
    columns: COLUMNS,
    rows: [...found.flatMap((own, index) => [...quotedBefore(found, index, quotedRow), mainRow(own, floor)]), floorRow(floor)],
    rank: { column: 'scales', best: 'most' },
    notes: NOTES,
  }
  const bursts: Table = {
    name: 'bursts',
    title: `burst handling, in percent of the limit (${TERMS.BURSTS.burst} a second)`,
    columns: BURST_COLUMNS,
    rows: found.flatMap((own, index) => [...quotedBefore(found, index, quotedBursts), burstRow(own)]),
    notes: BURST_NOTES,
  }
  const matrix: Table = {
    name: 'matrix',
    title: 'scenarios of the article’s decision matrix',
    first: 'scenario',
    columns: MATRIX_COLUMNS,
    rows: SCENARIOS.flatMap(({ scenario, approach, way }) =>
      found.filter((own) => own.way === way).map((own) => matrixRow(own, scenario, approach)),
    ),
    notes: [
      'The article’s matrix has two more scenarios. For Low Traffic, the part `latency` measures the memory store. For Multi-Region, Sluice has `sluice/regions`: each region decides alone, and regions send each other parts of the limit. It is not measured here.',
    ],
  }
  return { tables: [main, bursts, matrix], plots: [climbPlot(found)], figures: { found, floor } }
}

const NOTES: readonly string[] = [
  `Bytes are used_memory of the Redis server with ${figure(TERMS.KEYS)} keys, charged ${TERMS.CHARGES} times each, minus used_memory without them. The keys’ names (24 characters) and expiry are included. A log has ${TERMS.CHARGES} entries then.`,
  `\`bare\` is Sluice without the ring (batches, breaker, caches), and stores the same bytes. The field \`heavier\` of the JSON results has the bytes of logs with ${TERMS.LOG_ENTRIES} entries.`,
  `The columns \`added\` are p50 and p99 of requests on random keys, minus those of PING under the same arrivals in the same round. ${figure(TERMS.ARRIVALS)} requests a second arrive at random instants (Poisson). The row of PING shows its own p50 and p99.`,
  'Drift is what passed beyond the limit in the worst interval as long as a window, by the server’s clock. For a bucket, the limit of such an interval is burst + refill. For the column `end of a window`, one and a half times the limit is requested right before the end, and again right after it.',
  `For the column \`${figure(TERMS.FLOOD.perSecond)}/s\`, ${TERMS.FLOOD.processes} processes send together so many requests under a limit of ${figure(TERMS.METERED.burst)} a second. Over-grant is measured in the same run, against the promise of each algorithm. A fixed window promises no more than twice its limit, so its drift at the end of a window is no over-grant.`,
  'Some baselines decide by a client’s clock, which is read before the request travels to the server. So by the server’s clock they may exceed their promise a little. Only whole requests count as over-grant of these ways.',
  `For the column \`a second until p99 is ${TERMS.BOUND_MS} ms\`, one client process sends Poisson arrivals. The rate rises step by step, from ${SHARES[0]} to ${SHARES.at(-1)} times the rate that 64 callers reach. The client process is fully busy before Redis is, so the figure is the limit of one client process.`,
  `A step exceeds its bounds if p99 is above ${TERMS.BOUND_MS} ms, or if more than 0.1 % of the requests are undecided. Such a step is tried again, and counts if two of three tries exceed a bound. Before each try, the same arrivals come for a quarter of its time without being counted.`,
  'If PING itself exceeds a bound at its first step, other work used the machine, and the round is left out of these figures.',
  'The column `ended by` names the bound that the last step exceeded. A figure with >= means that a way passed all steps, so it may bear more. The column `undecided` is the share of undecided requests among those sent for the latencies and in all steps.',
]

const BURST_NOTES: readonly string[] = [
  'The column `of a burst at once` is the share that passes of a first burst as large as the limit. The column `again half a window later` is the share of a second such burst, when a bucket is half full again.',
  'The column `most in a window’s length, around an end` is what passed in the fullest interval as long as a window. One and a half times the limit was requested right before the end of a window, and again right after it. In the next column, further bursts followed in the next window.',
  'A bucket may let twice its limit pass in a window’s length: its full burst, and the refill. A sliding window counter assumes that the requests of the previous window were evenly spread. If all of them came at its end, nearly the whole limit may pass again.',
]

type Quote = (own: Compared) => Row

/** The article's row comes before the first limiter of its algorithm. */
function quotedBefore(found: readonly Compared[], index: number, quote: Quote): Row[] {
  const own = found[index] as Compared
  return found[index - 1]?.algorithm === own.algorithm ? [] : [quote(own)]
}

function quotedRow({ algorithm }: Compared): Row {
  const { approach, bytes, p99Ms, drift, scales } = ARTICLE[algorithm]
  return {
    name: `in the article: ${approach}`,
    load: algorithm,
    kind: 'quoted',
    cells: { bytes, p99: p99Ms, boundary: drift, flood: drift, scales },
  }
}

function quotedBursts({ algorithm }: Compared): Row {
  const { approach, bursts } = ARTICLE[algorithm]
  return { name: `in the article: ${approach}`, load: algorithm, kind: 'quoted', cells: { once: bursts } }
}

function mainRow(own: Compared, floor: ComparedFloor): Row {
  const { promise = 'bucket' } = own.contestant
  const admitted = own.flood.flatMap((sent) => sent.admitted)
  const cells: Record<string, Cell> = {
    bytes: own.weight.bytesPerKey * TERMS.KEYS,
    p50: added(own.latency, floor.latency, 'p50'),
    p99: added(own.latency, floor.latency, 'p99'),
    boundary: driftPercent(own.bursts.boundary, promise, TERMS.BURSTS),
    flood: driftPercent(admitted, promise, TERMS.METERED),
    ...scaleOf(own, floor),
  }
  const refused = own.weight.refused + sumOf(own.latency) + own.climbs.reduce((sum, climb) => sum + climb.refused, 0)
  return { ...labelled(own), cells, wrongAnswers: refused }
}

type LabelledRow = Extract<Row, { overGrant: unknown }>

function labelled({ contestant, algorithm, overGrant, latency, climbs }: Compared): Omit<LabelledRow, 'cells'> {
  return {
    name: contestant.name,
    load: algorithm,
    kind: contestant.kind as 'ours',
    overGrant,
    ...doubtOf(latency, climbs),
  }
}

function doubtOf(latency: LaneRounds, climbs: readonly Climb[]): { readonly disturbed?: string } {
  const disturbed = [latency, ...climbs].find((one) => one.disturbed !== undefined)?.disturbed
  return disturbed === undefined ? {} : { disturbed }
}

function floorRow({ latency, climbs }: ComparedFloor): Row {
  const cells = {
    p50: spreadOf(latency.rounds.map((round) => round.latency.p50 / 1_000)),
    p99: spreadOf(latency.rounds.map((round) => round.latency.p99 / 1_000)),
    ...scaleOf({ latency, climbs }, { latency, climbs }),
  }
  return { name: 'PING (its own p50 and p99)', load: 'no limit', kind: 'floor', cells, ...doubtOf(latency, climbs) }
}

/**
 * The highest rate of arrivals that a limiter bears, the bound that it exceeded above this rate, and the share of undecided requests.
 * Rounds in which PING (the floor) exceeded the bound at its first step are left out: they say nothing about a limiter, only about the
 * machine.
 */
function scaleOf({ latency: { rounds }, climbs }: ComparedFloor, floor: ComparedFloor): Record<string, Cell> {
  const said = climbs.filter((_, round) => floor.climbs[round]?.most !== 0)
  const all = [...rounds, ...climbs]
  const sum = (of: (one: { readonly total: number; readonly undecided: number }) => number): number =>
    all.reduce((found, one) => found + of(one), 0)
  return {
    scales: said.length === 0 ? undefined : spreadOf(said.map(({ most }) => most)),
    ended:
      said.length === 0 ? 'PING was late at once' : [...new Set(said.map(({ ended, most }) => ended ?? `>= ${figure(most)}`))].join(', '),
    undecided: (sum(({ undecided }) => undecided) / sum(({ total }) => total)) * 100,
  }
}

function burstRow(own: Compared): Row {
  const { bursts } = own
  const share = (count: number): number => (count / TERMS.BURSTS.burst) * 100
  const cells = {
    once: share(bursts.atOnce),
    later: share(bursts.later),
    boundary: worstPercent(bursts.boundary, TERMS.BURSTS),
    pressed: worstPercent(bursts.pressed, TERMS.BURSTS),
    undecided: bursts.undecided,
  }
  return { ...labelled(own), cells }
}

function matrixRow(own: Compared, scenario: string, approach: string): Row {
  const p99 = spreadOf(own.latency.rounds.map(({ latency }) => latency.p99 / 1_000))
  const cells = {
    approach,
    bytes: own.weight.bytesPerKey * TERMS.KEYS,
    p99,
    once: (own.bursts.atOnce / TERMS.BURSTS.burst) * 100,
    pressed: worstPercent(own.bursts.pressed, TERMS.BURSTS),
  }
  const { load: _, ...row } = labelled(own)
  return { ...row, name: scenario, cells }
}

function added(own: LaneRounds, floor: LaneRounds, which: 'p50' | 'p99'): Spread {
  const of = ({ rounds }: LaneRounds): number[] => rounds.map(({ latency }) => latency[which] / 1_000)
  return differencesOf(of(own), of(floor))
}

function sumOf({ rounds }: LaneRounds): number {
  return rounds.reduce((sum, { refused }) => sum + refused, 0)
}

/** p99 over arrivals, of the first climb. */
function climbPlot(found: readonly Compared[]): Plot {
  return {
    name: 'scales',
    title: 'p99 over arrivals a second of one process',
    x: { title: 'arrivals a second', log: true },
    y: { title: 'p99 (ms)', log: true },
    series: found.map(({ contestant: { name, kind }, algorithm, climbs }) => ({
      name: `${name}, ${algorithm}`,
      kind: kind as 'ours',
      points: climbs[0]?.points ?? [],
    })),
  }
}
