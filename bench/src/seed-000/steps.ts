import { disturbanceMeter, disturbedBy } from '../machine/disturbance.ts'
import type { OpenRound } from '../open/open-loop.ts'
import type { OpenLane } from '../open/rounds.ts'
import type { Point } from '../result/plot.ts'
import { spreadOf } from '../result/statistics.ts'

/**
 * The load of each step, as a share of the limiter's capacity. The capacity is measured before the limiter's code is warm, so the limiter
 * may bear several times as much.
 */
export const SHARES = [0.3, 0.5, 0.7, 0.85, 1, 1.35, 1.8, 2.4, 3.2, 4.2, 5.6, 7.5, 10] as const
/**
 * If a larger share of requests is undecided, the lane (a measured limiter) does not bear the load. The p99 alone would not show this,
 * because a lane may leave requests undecided quickly.
 */
const MAX_UNDECIDED = 0.001

/**
 * A step that exceeds a bound is tried again, until more than half of TRIES tries have the same outcome. With one try, a single pause of
 * the machine could make the p99 exceed its bound.
 */
const TRIES = 3
/**
 * Before each try, the lane (a measured limiter) gets the same arrivals for this share of the try's time, without being counted. Until then
 * the lane was idle, because other lanes had their turns.
 */
const RUN_IN = 0.25

/** How far a lane can be loaded. */
export interface Climb {
  /** The largest arrivals a second within both bounds; 0 if the first step was beyond one. */
  readonly most: number
  /** The bound that a step exceeded; absent if none did, so that the lane (a measured limiter) may bear more than `most`. */
  readonly ended?: 'p99' | 'undecided'
  /** p99 in milliseconds over arrivals a second, up to the first step beyond a bound: the median of its tries with quartiles. */
  readonly points: readonly Point[]
  /** The number of requests in all tries of all steps, and how many of these were denied or not decided. */
  readonly total: number
  readonly refused: number
  readonly undecided: number
  /** What else used the machine during the steps, in words. */
  readonly disturbed?: string
}

/**
 * Raises the rate of arrivals step by step. At each step the lanes (measured limiters) take turns. A lane ends at a step if, in most tries,
 * its p99 exceeds `boundMs` or too many requests stay undecided.
 */
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
      const tries = await triesOf(own.lane, { perSecond, ms, boundMs, seed })
      own.meter.end()
      const { low, median: y, high } = spreadOf(tries.map(({ p99 }) => p99))
      own.points.push(low === high ? { x: perSecond, y } : { x: perSecond, y, low, high })
      for (const { round } of tries) {
        own.total += round.total
        own.refused += round.refused
        own.undecided += round.undecided
      }
      const beyond = tries.flatMap(({ ended }) => ended ?? [])
      if (beyond.length * 2 < tries.length) own.most = perSecond
      else own.ended = beyond[0]
    }
  }
  return all.map(({ most, ended, points, total, refused, undecided, meter }) => {
    const found = { most, points, total, refused, undecided, ...disturbedBy(meter) }
    return ended === undefined ? found : { ...found, ended }
  })
}

/** One try of a step. */
interface Try {
  readonly round: OpenRound
  readonly p99: number
  readonly ended?: Climb['ended']
}

interface Step {
  readonly perSecond: number
  readonly ms: number
  readonly boundMs: number
  readonly seed: number
}

/** One try if it is within both bounds; otherwise more, until one outcome has the majority. */
async function triesOf(lane: OpenLane, { perSecond, ms, boundMs, seed }: Step): Promise<Try[]> {
  const tries: Try[] = []
  let [within, beyond] = [0, 0]
  while (tries.length === 0 || (beyond > 0 && Math.max(within, beyond) * 2 < TRIES)) {
    await lane.invoke({ what: 'open', perSecond, ms: Math.ceil(ms * RUN_IN), seed })
    const round = (await lane.invoke({ what: 'open', perSecond, ms, seed: seed * TRIES + tries.length })) as OpenRound
    const p99 = round.latency.p99 / 1_000
    const ended = round.undecided > round.total * MAX_UNDECIDED ? 'undecided' : p99 > boundMs ? 'p99' : undefined
    if (ended === undefined) within += 1
    else beyond += 1
    tries.push({ round, p99, ...(ended === undefined ? {} : { ended }) })
  }
  return tries
}
