import { fileURLToPath } from 'node:url'
import { outputOf } from '../in-child.ts'
import type { PartOptions } from '../part.ts'
import type { ColdInput, ColdSample } from './sample.ts'

const PROGRAM = fileURLToPath(new URL('sample-process.js', import.meta.url))
const MIN_ROUNDS = 5

/**
 * Samples of every way, each a process of its own, by turns, forth and back, for so many seconds and at least `MIN_ROUNDS` rounds. A
 * first round is not counted: it brings files and programs to where later processes find them. In the order of the inputs.
 */
export async function coldRounds(
  inputs: readonly ColdInput[],
  { seconds, atEnd }: Pick<PartOptions, 'seconds' | 'atEnd'>,
): Promise<ColdSample[][]> {
  const samples: ColdSample[][] = inputs.map(() => [])
  const places = inputs.map((_, place) => place)
  let until = Number.POSITIVE_INFINITY
  for (let round = 0; round <= MIN_ROUNDS || performance.now() < until; round += 1) {
    for (const place of round % 2 === 0 ? places : places.toReversed()) {
      const input = inputs[place] as ColdInput
      // Each process meets users of its own in Redis; in PostgreSQL its users' rows are there from the uncounted round on, of every way.
      const space = input.engine === 'redis' ? `${input.space}r${round}` : input.space
      const sample = JSON.parse(
        await outputOf(`a cold start of ${input.way}`, [PROGRAM, JSON.stringify({ ...input, space })], { atEnd }),
      ) as ColdSample
      if (round > 0) (samples[place] as ColdSample[]).push(sample)
    }
    if (round === 0) until = performance.now() + seconds * 1_000
  }
  return samples
}
