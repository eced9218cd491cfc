import { coverageOf, emptyCoverage, problemOf, report, type Sum } from './audited.ts'
import { type History, historyOf, run } from './history.ts'
import type { Programs } from './site.ts'

/** What occurred in many histories. */
export interface Many {
  readonly coverage: Sum
  /** How many histories failed which audit first. */
  readonly failed: { a: number; b: number; c: number; d: number }
  /** The first history that failed, as short as possible. */
  first: string | undefined
}

/** Runs `count` histories from a seed. Yields after each. */
export function* many(programs: Programs, count: number, seed: number, drawn: (seed: number) => History = historyOf): Generator<Many> {
  const sum: Many = { coverage: emptyCoverage(), failed: { a: 0, b: 0, c: 0, d: 0 }, first: undefined }
  for (let index = 0; index < count; index += 1) {
    const history = drawn(seed + index)
    const outcome = run(programs, history)
    coverageOf(sum.coverage, outcome)
    const problem = problemOf(outcome)
    if (problem !== undefined) {
      sum.failed[problem[0] as 'a'] += 1
      sum.first ??= report(programs, history, problem)
    }
    yield sum
  }
}
