import { disturbanceMeter, disturbedBy } from '../machine/disturbance.ts'
import type { OpenRound } from '../open/open-loop.ts'
import type { OpenLane } from '../open/rounds.ts'

/** The rounds of a lane, each with the arrivals that the other lanes had in the same round. */
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

/** Gives every lane the same Poisson arrivals, in turns, forth and back. */
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
