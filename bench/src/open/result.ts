import type { ContestantKind } from '../contestants/contestant.ts'
import type { PartResult } from '../part.ts'
import { figure } from '../render/columns.ts'
import { median, rangeOf, ratiosOf, type Spread } from '../result/statistics.ts'
import type { Column, OverGrant, Row, Table } from '../result/table.ts'
import type { MeteredRound } from './lane-order.ts'
import { meteredOver } from './metered.ts'
import type { OpenRound } from './open-loop.ts'
import type { OpenMeasured, OpenTimed } from './rounds.ts'

const LATENCY: readonly Column[] = [
  { key: 'perSecond', title: 'a second' },
  { key: 'p50', title: 'p50', unit: 'us', decimals: 0 },
  { key: 'p50x', title: 'p50 against the first', unit: 'x' },
  { key: 'p99', title: 'p99', unit: 'us', decimals: 0 },
  { key: 'p99x', title: 'p99 against the first', unit: 'x' },
  { key: 'late', title: 'late p99', unit: 'us', decimals: 0 },
  { key: 'refused', title: 'refused', unit: '%' },
  { key: 'undecided', title: 'undecided', unit: '%' },
]
const LIMITED: readonly Column[] = [
  { key: 'capacity', title: 'capacity a second' },
  { key: 'refused', title: 'refused', unit: '%' },
  { key: 'undecided', title: 'undecided', unit: '%' },
]

/** Makes tables of the measurements. Each ratio compares two rounds with arrivals at the same share of capacity and with the same seed. */
export function openResult(measured: OpenMeasured, kinds: readonly ContestantKind[]): PartResult {
  const { names, timed } = measured
  const over = measured.metered.map(meteredOver)
  const reasons = names.flatMap((name, lane) =>
    reasonsOf(
      name,
      timed.filter((own) => own.lane === lane),
    ),
  )
  const latency: Table = {
    name: 'latency',
    title: 'latency from the instant at which a request was due until its answer',
    columns: LATENCY,
    rows: timed.map((own) => rowOf(measured, own, { kind: kinds[own.lane] ?? 'peer', over: over[own.lane] as OverGrant })),
    rank: { column: 'p99', best: 'least' },
    notes: [
      'Latency counts from the instant at which a request should have been made. The column `late p99` says how much later the process made it, because it was busy. The latency of an undecided request ends when the request becomes undecided.',
      'Under the load `own`, each way runs at a share of its own capacity. It is compared with the way of the first row, which runs at the same share of its own capacity.',
      `Cells show the median of ${timed[0]?.rounds.length ?? 0} rounds, with the least and the greatest in parentheses. The limit is so high that every request must pass, so a refusal is a wrong answer.`,
    ],
  }
  const limited: Table = {
    name: 'limited',
    title: 'one key at half of the own capacity, under a limit of an eighth of these arrivals',
    columns: LIMITED,
    rows: names.map((name, lane) => limitedRow(measured, lane, { name, kind: kinds[lane] ?? 'peer', over: over[lane] as OverGrant })),
    rank: { column: 'capacity', best: 'most' },
    notes: [
      'The column `capacity a second` is the number of decisions a second with 64 requests in flight.',
      'Over-grant is what passed beyond burst + rate * time. If a way counts in windows, it is what passed beyond the limits of all windows that can overlap the time. The time is from the first request to the last answer, plus 1 ms, because some clocks count whole milliseconds.',
    ],
  }
  return { tables: [latency, limited], notes: reasons, figures: measured }
}

interface Known {
  readonly kind: ContestantKind
  readonly over: OverGrant
}

/** The rounds of the baseline at the same share of capacity. They serve both kinds of load, because its own capacity is the baseline's. */
function baselineOf(timed: readonly OpenTimed[], { share }: OpenTimed): readonly OpenRound[] {
  return timed.find((other) => other.lane === 0 && other.share === share)?.rounds ?? []
}

function rowOf({ names, timed }: OpenMeasured, own: OpenTimed, { kind, over }: Known): Row {
  const { lane, of, share, perSecond, rounds, disturbed } = own
  const baseline = baselineOf(timed, own)
  const spread = (by: (round: OpenRound) => number): Spread => rangeOf(rounds.map(by))
  const times = (by: (round: OpenRound) => number): Spread => ratiosOf(rounds.map(by), baseline.map(by), rangeOf)
  const total = sumOf(rounds, (round) => round.total)
  return {
    name: names[lane] as string,
    load: `${share * 100} % ${of}`,
    kind,
    cells: {
      perSecond,
      p50: spread(({ latency }) => latency.p50),
      p50x: times(({ latency }) => latency.p50),
      p99: spread(({ latency }) => latency.p99),
      p99x: times(({ latency }) => latency.p99),
      late: median(rounds.map((round) => round.late.p99)),
      refused: (sumOf(rounds, ({ refused }) => refused) / total) * 100,
      undecided: (sumOf(rounds, ({ undecided }) => undecided) / total) * 100,
    },
    overGrant: over,
    wrongAnswers: sumOf(rounds, ({ refused }) => refused),
    ...(disturbed === undefined ? {} : { disturbed }),
  }
}

function sumOf(rounds: readonly OpenRound[], by: (round: OpenRound) => number): number {
  return rounds.reduce((sum, round) => sum + by(round), 0)
}

function limitedRow(measured: OpenMeasured, lane: number, { name, kind, over }: Known & { readonly name: string }): Row {
  const { capacities, metered, limited } = measured
  const { total, refused, undecided } = metered[lane] as MeteredRound
  const cells = { capacity: capacities[lane], refused: (refused / total) * 100, undecided: (undecided / total) * 100 }
  return { name, kind, cells, overGrant: over, ...limited[lane] }
}

/** Why a way left requests undecided, over all loads. */
function reasonsOf(name: string, timed: readonly OpenTimed[]): string[] {
  const reasons = new Map<string, number>()
  for (const { rounds } of timed)
    for (const round of rounds)
      for (const [message, times] of Object.entries(round.reasons)) reasons.set(message, (reasons.get(message) ?? 0) + times)
  const parts = [...reasons].sort(([, one], [, other]) => other - one).map(([message, times]) => `${figure(times)} x "${message}"`)
  return parts.length === 0 ? [] : [`${name}, undecided: ${parts.join(', ')}`]
}
