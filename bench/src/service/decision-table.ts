import { type Latency, LATENCY_COLUMNS } from '../http/latency.ts'
import type { ServerTimed } from '../http/server-rounds.ts'
import type { Profile } from '../profiles.ts'
import { amount } from '../render/cells.ts'
import { figure } from '../render/columns.ts'
import type { Goal, Reading } from '../result/reading.ts'
import { median, ratiosOf, spreadOf } from '../result/statistics.ts'
import type { Column, Row, Table } from '../result/table.ts'

export interface Side {
  readonly timed: ServerTimed
  readonly latency: Latency
}

/** The service and the server that reads and answers the same bytes. */
export interface Pair {
  readonly ours: Side
  readonly baseline: Side
}

/** The service under one load: single checks, and lists of `many`. */
export interface Measured {
  readonly profile: Profile
  readonly many: number
  readonly check: Pair
  readonly checks: Pair
  /** The number of wrong answers of the service outside of the rounds: answers that its load does not allow. */
  readonly wrong: number
}

const HALF: Goal = { atLeast: 0.5 }
const FOURFOLD: Goal = { atLeast: 4 }

/** Ratios to the baselines, and of lists to single checks, with their goals. */
export function decisionReadings({ profile, many, check, checks, wrong }: Measured): Reading[] {
  const name = `/v1/checks of ${many}`
  const listed = checks.ours.timed.wallMicros.map((micros) => micros / many)
  const spread = ratiosOf(check.ours.timed.wallMicros, listed)
  return [
    ...pair('/v1/check', profile, check, wrong),
    ...pair(name, profile, checks, wrong),
    {
      name: `${name} against /v1/check, decisions/s`,
      profile: profile.name,
      goal: FOURFOLD,
      unit: 'x',
      value: spread.median,
      spread,
      ours: rate(median(listed)),
      baseline: rate(median(check.ours.timed.wallMicros)),
      wrongAnswers: wrong,
    },
  ]
}

/** Throughput and processor time of a server, each as a ratio to its baseline. In both, more is better. */
function pair(
  name: string,
  { name: profile }: Profile,
  { ours: { timed: ours }, baseline: { timed: baseline } }: Pair,
  wrong: number,
): Reading[] {
  const [wall, cpu] = [ratiosOf(baseline.wallMicros, ours.wallMicros), ratiosOf(baseline.cpuMicros, ours.cpuMicros)]
  const judged = { profile, unit: 'x', goal: HALF, wrongAnswers: ours.wrong + ours.failed + baseline.wrong + wrong } as const
  const micros = (timed: ServerTimed): string => amount(median(timed.cpuMicros), 'us')
  return [
    {
      ...judged,
      name: `${name}, throughput`,
      value: wall.median,
      spread: wall,
      ours: rate(median(ours.wallMicros)),
      baseline: `${baseline.name} ${rate(median(baseline.wallMicros))}`,
    },
    {
      ...judged,
      name: `${name}, processor time`,
      value: cpu.median,
      spread: cpu,
      ours: micros(ours),
      baseline: `${baseline.name} ${micros(baseline)}`,
    },
  ]
}

function rate(micros: number): string {
  return `${figure(1_000_000 / micros)}/s`
}

const COLUMNS: readonly Column[] = [
  { key: 'rate', title: 'decisions a second' },
  { key: 'cpu', title: 'cpu a decision', unit: 'us' },
  ...LATENCY_COLUMNS,
]

/** Decisions a second, processor time and latency, with the over-grant of single checks and of lists. */
export function decisionTable(measured: readonly Measured[], grants: { readonly check: number; readonly checks: number }): Table {
  return {
    name: 'decisions',
    title: 'decisions of the service, and answers of a node:http server that reads and writes the same bytes',
    columns: COLUMNS,
    rows: measured.flatMap(({ profile: { name: load }, many, check, checks, wrong }) => [
      rowOf('node:http, a constant answer', load, check.baseline, 1),
      rowOf('/v1/check', load, check.ours, 1, { overGrant: grants.check, wrong }),
      rowOf(`node:http, ${many} checks parsed, an answer printed`, load, checks.baseline, many),
      rowOf(`/v1/checks with ${many}`, load, checks.ours, many, { overGrant: grants.checks, wrong }),
    ]),
    rank: { column: 'rate', best: 'most' },
    notes: [
      'The column `cpu a decision` is user and system time of the server’s process. For `p50` and `p99`, requests arrive at random instants, at 30 % of what the slower of the service and its floor can answer. Each latency counts from the instant at which the request was due.',
      'Over-grant is what passed beyond burst + rate * time in a flood on one key.',
    ],
  }
}

function rowOf(
  name: string,
  load: string,
  { timed, latency }: Side,
  many: number,
  ours?: { readonly overGrant: number; readonly wrong: number },
): Row {
  const { perSecond, p50, p99 } = latency
  const measured = {
    name,
    load,
    cells: {
      rate: spreadOf(timed.wallMicros.map((micros) => (many * 1e6) / micros)),
      cpu: spreadOf(timed.cpuMicros.map((micros) => micros / many)),
      perSecond,
      p50,
      p99,
    },
    ...(timed.disturbed === undefined ? {} : { disturbed: timed.disturbed }),
  }
  // A server that decides nothing is shown as a floor, because it is not a limiter that could be better than Sluice. Its wrong answers
  // count in the readings.
  if (ours === undefined) return { ...measured, kind: 'floor' }
  return { ...measured, kind: 'ours', overGrant: ours.overGrant, wrongAnswers: timed.wrong + timed.failed + ours.wrong }
}
