import { disturbanceMeter, disturbedBy } from '../machine/disturbance.ts'
import type { OpenRound } from '../open/open-loop.ts'
import type { OpenLane } from '../open/rounds.ts'

/** The results of one lane (a measured limiter), round by round. In the same round all lanes had the same arrivals. */
export interface LaneRounds {
  readonly name: string
  readonly rounds: readonly OpenRound[]
  /** What else used the machine during these rounds, in words. */
  readonly disturbed?: string
}

export interface SameArrivals {
  readonly perSecond: number
  readonly ms: number
  readonly rounds: number
}

/** Sends every lane (a measured limiter) the same Poisson arrivals. The lanes take turns, in alternating order. */
export async function sameArrivals(lanes: readonly OpenLane[], { perSecond, ms, rounds }: SameArrivals): Promise<LaneRounds[]> {
  const all = lanes.map((lane) => ({ lane, rounds: [] as OpenRound[], meter: disturbanceMeter() }))
  for (let round = 0; round < rounds; round += 1) {
    for (const { lane, rounds: own, meter } of round % 2 === 0 ? all : all.toReversed()) {
      meter.begin()
      own.push((await lane.invoke({ what: 'open', perSecond, ms, seed: round + 1 })) as OpenRound)
      meter.end()
    }
  }
  return all.map(({ lane: { name }, rounds: own, meter }) => ({ name, rounds: own, ...disturbedBy(meter) }))
}
