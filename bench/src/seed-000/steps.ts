import { disturbanceMeter, disturbedBy } from '../machine/disturbance.ts'
import type { OpenRound } from '../open/open-loop.ts'
import type { OpenLane } from '../open/rounds.ts'
import type { Point } from '../result/plot.ts'

/** The load of each step, as a share of the lane's capacity. */
const SHARES = [0.3, 0.5, 0.65, 0.8, 0.9, 1, 1.1, 1.2, 1.35] as const
/** The share of undecided requests above which a lane does not bear a load: it may leave them undecided quickly, with a low p99. */
const MAX_UNDECIDED = 0.001

/** How far a lane can be loaded. */
export interface Climb {
  /** The largest arrivals a second within both bounds; 0 if the first step was beyond one. */
  readonly most: number
  /** The bound that a step exceeded; absent if none did, so that the lane may bear more than `most`. */
  readonly ended?: 'p99' | 'undecided'
  /** p99 in milliseconds over arrivals a second, up to the first step beyond a bound. */
  readonly points: readonly Point[]
  /** The requests of all these steps, and those that were denied or not decided. */
  readonly total: number
  readonly refused: number
  readonly undecided: number
  /** What else used the machine during the steps, in words. */
  readonly disturbed?: string
}

/** Raises the arrivals step by step, the lanes in turns, forth and back, until the p99 of a lane exceeds `boundMs` or requests stay undecided. */
export async function climb(
  lanes: readonly OpenLane[],
  capacities: readonly number[],
  { ms, boundMs, seed }: { readonly ms: number; readonly boundMs: number; readonly seed: number },
): Promise<Climb[]> {
  const all = lanes.map((lane, index) => {
    const [capacity, ended, points] = [capacities[index] as number, undefined as Climb['ended'], [] as Point[]]
    return { lane, capacity, ended, points, most: 0, total: 0, refused: 0, undecided: 0, meter: disturbanceMeter() }
  })
  for (const [step, share] of SHARES.entries()) {
    for (const own of (step + seed) % 2 === 1 ? all : all.toReversed()) {
      if (own.ended !== undefined) continue
      const perSecond = Math.round(own.capacity * share)
      own.meter.begin()
      const { latency, total, refused, undecided } = (await own.lane.invoke({ what: 'open', perSecond, ms, seed })) as OpenRound
      own.meter.end()
      const p99 = latency.p99 / 1_000
      own.points.push({ x: perSecond, y: p99 })
      own.total += total
      own.refused += refused
      own.undecided += undecided
      if (undecided > total * MAX_UNDECIDED) own.ended = 'undecided'
      else if (p99 > boundMs) own.ended = 'p99'
      else own.most = perSecond
    }
  }
  return all.map(({ most, ended, points, total, refused, undecided, meter }) => {
    const found = { most, points, total, refused, undecided, ...disturbedBy(meter) }
    return ended === undefined ? found : { ...found, ended }
  })
}
