import { ALLOWED } from '../profiles.ts'
import { once } from '../once.ts'
import { openLanes } from '../redis/comparison.ts'
import type { Grant } from '../redis/grants.ts'
import { type LaneInput, sharingOf } from '../redis/lane-input.ts'
import type { RedisOptions } from '../redis/redis-part.ts'
import { type CallersTimed, interleaveLanes } from '../redis/rounds.ts'
import type { Sample } from '../redis/samples.ts'
import type { Way } from '../redis/ways.ts'
import { TEST } from './article.ts'
import { inputsOf, type Load, textOf, WAYS } from './loads.ts'

/** After the rounds, the allocations and latencies of each limiter are measured this many times. The limiters take turns. */
const SAMPLES = 3

/** A way under a load. */
export interface Lane {
  readonly way: Way
  readonly timed: CallersTimed
  readonly samples: readonly Sample[]
  /** The over-grant of the limiter under a limit that is reached. As many callers share one key as in the timed rounds. */
  readonly grant: Grant
}

/** Measures all limiters under a load in the same rounds, each in a process of its own. A load is measured once in a run. */
export function lanesUnder(options: RedisOptions, load: Load): Promise<readonly Lane[]> {
  return once(options, `lanes under ${textOf(load)}`, async () => {
    options.say(textOf(load))
    const inputs = inputsOf(load)
    const opened = await openLanes(options, ALLOWED, inputs)
    const timed = await interleaveLanes(opened, options.seconds, 2)
    const samples = opened.map((): Sample[] => [])
    for (let round = 0; round < SAMPLES; round += 1) {
      const order = opened.map((_, index) => index)
      for (const index of round % 2 === 0 ? order : order.toReversed()) samples[index]?.push((await opened[index]?.sample()) as Sample)
    }
    for (const lane of opened) await lane.close()
    const lanes: Lane[] = []
    for (const [index, way] of WAYS.entries()) {
      const grant = await options.grantOf(way, { callers: sharingOf(inputs[index] as LaneInput) })
      lanes.push({ way, timed: timed[index] as CallersTimed, samples: samples[index] as Sample[], grant })
    }
    return lanes
  })
}

/**
 * Runs the over-grant test of the article "Benchmarking Token Bucket Rate Limiters" for a limiter, once in a run. It takes 3 seconds, or
 * the seconds of the run if they are less than one.
 */
export function testOf(options: RedisOptions, way: Way): Promise<Grant> {
  return options.grantOf(way, { callers: TEST.callers, seconds: testSeconds(options) })
}

export function testSeconds({ seconds }: Pick<RedisOptions, 'seconds'>): number {
  return seconds < 1 ? seconds : TEST.seconds
}
