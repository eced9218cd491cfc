import { fileURLToPath } from 'node:url'
import { outputOf } from '../in-child.ts'
import { disturbanceMeter, disturbedBy } from '../machine/disturbance.ts'
import type { PartOptions } from '../part.ts'
import type { Depth } from '../result/suite-result.ts'
import type { ColdInput, ColdSample } from './sample.ts'

const PROGRAM = fileURLToPath(new URL('sample-process.js', import.meta.url))
const MIN_ROUNDS: Readonly<Record<Depth, number>> = { quick: 3, full: 5 }

/** The samples of a limiter, and what else used the machine meanwhile, in words. */
export interface ColdTimed {
  readonly samples: readonly ColdSample[]
  readonly disturbed?: string
}

/**
 * Takes samples of every limiter, each in a process of its own. Limiters take turns, in alternating order, for `seconds` and at least
 * `MIN_ROUNDS` rounds. A first round is not counted: it loads files into the cache and programs into the server. The result is in the order
 * of the inputs.
 */
export async function coldRounds(
  inputs: readonly ColdInput[],
  { seconds, depth, atEnd }: Pick<PartOptions, 'seconds' | 'depth' | 'atEnd'>,
): Promise<ColdTimed[]> {
  const all = inputs.map((input) => ({ input, samples: [] as ColdSample[], meter: disturbanceMeter() }))
  let until = Number.POSITIVE_INFINITY
  for (let round = 0; round <= MIN_ROUNDS[depth] || performance.now() < until; round += 1) {
    for (const { input, samples, meter } of round % 2 === 0 ? all : all.toReversed()) {
      // In Redis each process has new users. In PostgreSQL the rows of the users exist from the uncounted round on, for every limiter.
      const space = input.engine === 'redis' ? `${input.space}r${round}` : input.space
      if (round > 0) meter.begin()
      const sample = JSON.parse(await outputOf(`a cold start of ${input.way}`, [PROGRAM], { ...input, space }, { atEnd })) as ColdSample
      if (round === 0) continue
      meter.end()
      samples.push(sample)
    }
    if (round === 0) until = performance.now() + seconds * 1_000
  }
  return all.map(({ samples, meter }) => ({ samples, ...disturbedBy(meter) }))
}
