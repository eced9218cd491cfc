import type { PartResult } from '../part.ts'
import { figure, markdownTable, percent, table } from '../report.ts'
import { median, ratiosOf, type Spread } from '../statistics.ts'
import type { MeteredRound } from './lane-order.ts'
import type { OpenRound } from './open-loop.ts'
import type { OpenMeasured, OpenTimed } from './rounds.ts'

const HEADING = ['way', 'load', 'a second', 'p50', 'p50 x', 'quartiles', 'p99', 'p99 x', 'late p99', 'refused', 'undecided']

/** Tables of what was measured; each ratio is that of two rounds with arrivals at the same share and by the same seed. */
export function openResult(measured: OpenMeasured): PartResult {
  const { names, capacities, timed, metered } = measured
  const rows = timed.map((own) => rowOf(names, own, baselineOf(timed, own)))
  const limited = names.map((name, lane) => limitedRow(name, capacities[lane] as number, metered[lane] as MeteredRound))
  const limitedHeading = ['way', 'capacity a second', 'limited: refused', 'undecided', 'over-grant']
  const reasons = names.flatMap((name, lane) =>
    reasonsOf(
      name,
      timed.filter((own) => own.lane === lane),
    ),
  )
  return {
    readings: [],
    notes: [
      table(HEADING, rows),
      'Latency in us, from the instant at which a request was due until its answer, undecided ones included; late: how long after that instant the request was made,',
      'because the process did something else. It is part of the latency. x: against the baseline in the same round; under `own` against the baseline at that share of its own.',
      `Capacity: decisions a second with 64 requests under way. Medians of ${timed[0]?.rounds.length ?? 0} rounds. Nobody may be refused.`,
      table(limitedHeading, limited),
      'limited: one key at half of the own capacity, under a limit of half of these arrivals a second; over-grant: what passed beyond burst + rate * time (windows: beyond the',
      'limit of every window that the time touches), within a millisecond.',
      ...reasons,
    ],
    figures: measured,
    document: `${markdownTable(HEADING, rows)}\n\n${markdownTable(limitedHeading, limited)}`,
  }
}

/** The baseline's rounds at the same share: its own capacity is the baseline's. */
function baselineOf(timed: readonly OpenTimed[], { share }: OpenTimed): readonly OpenRound[] {
  return timed.find((other) => other.lane === 0 && other.share === share)?.rounds ?? []
}

function rowOf(names: readonly string[], { lane, of, share, perSecond, rounds }: OpenTimed, baseline: readonly OpenRound[]): string[] {
  const middle = (by: (round: OpenRound) => number): number => median(rounds.map(by))
  const times = (by: (round: OpenRound) => number): Spread => ratiosOf(rounds.map(by), baseline.map(by))
  const total = rounds.reduce((sum, round) => sum + round.total, 0)
  const part = (by: (round: OpenRound) => number): string => percent((rounds.reduce((sum, round) => sum + by(round), 0) / total) * 100)
  const half = times(({ latency }) => latency.p50)
  return [
    names[lane] as string,
    `${figure(share * 100)} % ${of}`,
    figure(perSecond),
    figure(middle(({ latency }) => latency.p50)),
    figure(half.median, 2),
    `${figure(half.low, 2)} .. ${figure(half.high, 2)}`,
    figure(middle(({ latency }) => latency.p99)),
    figure(times(({ latency }) => latency.p99).median, 2),
    figure(middle(({ late }) => late.p99)),
    part(({ refused }) => refused),
    part(({ undecided }) => undecided),
  ]
}

function limitedRow(name: string, capacity: number, { total, allowed, refused, undecided, permitted }: MeteredRound): string[] {
  const of = (count: number): string => percent((count / total) * 100)
  return [name, figure(capacity), of(refused), of(undecided), percent((Math.max(0, allowed - permitted) / permitted) * 100)]
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
