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

/** The scenarios of the article's decision matrix whose approach is in the comparison, each with our way that uses the approach. */
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
      'The matrix has two more scenarios. For Low Traffic, the part latency measures the memory store. For Multi-Region, `sluice/regions` has regions that decide alone and send each other parts of the limit; it is not measured here.',
    ],
  }
  return { tables: [main, bursts, matrix], plots: [climbPlot(found)], figures: { found, floor } }
}

const NOTES: readonly string[] = [
  `Bytes: used_memory of the server with ${figure(TERMS.KEYS)} keys, charged ${TERMS.CHARGES} times each, minus used_memory without them. Names of 24 characters and expiry are included.`,
  `A log has ${TERMS.CHARGES} entries then. (\`heavier\` in the JSON, and the part logs, have ${TERMS.LOG_ENTRIES} entries.) The bytes of a bare way are those of the way with the ring.`,
  `Added: p50 and p99 of ${figure(TERMS.ARRIVALS)} Poisson arrivals a second on random keys, minus those of PING under the same arrivals of the same round. The row of the floor has PING’s own p50 and p99.`,
  'Drift: what passed in one window’s length beyond the limit (a bucket: beyond burst + refill), in the worst such interval, by the server’s clock. End of a window: one and a half times the limit is requested right before the end, and again right after it.',
  `${figure(TERMS.FLOOD.perSecond)}/s: ${TERMS.FLOOD.processes} processes under a limit of ${figure(TERMS.METERED.burst)} a second. Over-grant is audited there, against what each algorithm promises. A fixed window promises no more than twice its limit, so its drift at an end is no over-grant.`,
  'Ways that decide by a client’s clock (baselines) may exceed their promise by the server’s clock, because a request waits after its time was read. Of their over-grant only whole requests count.',
  `A second until p99: Poisson arrivals of one client process, raised step by step (${SHARES[0]} to ${SHARES.at(-1)} times what 64 callers reach). The process is busy before Redis is, so this is the limit of a process and not of Redis.`,
  'A step beyond a bound is tried again, and counts as beyond it if two of three tries are. Each try has a run-in of a quarter of its time. A round in which PING itself was beyond the bound at its first step is left out of these figures: other work had the machine.',
  `Ended by: the bound that a step exceeded: p99 above ${TERMS.BOUND_MS} ms, or more than 0.1 % undecided. With >= the last step was within both bounds, so the way may bear more. Undecided: of all requests of the latencies and of these steps, including the step beyond the bound.`,
]

const BURST_NOTES: readonly string[] = [
  'At once: the part that passes of a first burst, which is as large as the limit. Half a window later: the part that passes of a second such burst, when a bucket is half full again. Around an end: one and a half times the limit is requested right before the end of a window, and again right after it.',
  'With pressure after it: further bursts follow in the next window. A bucket of this burst may let twice its limit pass in a window’s length: the burst, and what is refilled. A counter assumes that earlier requests were evenly spread. If all came at the end of the window, it lets up to as much pass again.',
]

type Quote = (own: Compared) => Row

/** The article's row comes before the first way of its algorithm. */
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
 * How far a way scales, what ended it, and the share of undecided requests. A round in which not even the floor was within the bound at its
 * first step says nothing of a limiter, only of the machine.
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
