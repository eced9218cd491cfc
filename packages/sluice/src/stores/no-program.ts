import type { AnyLimit } from '../algorithms/algorithm.ts'
import { LimiterError } from '../errors/limiter-error.ts'

/** What a store says of a limit for which it has no program. */
export function noProgram(store: string, { algorithm }: AnyLimit, known: object): LimiterError {
  const tags = Object.keys(known).join(', ')
  return new LimiterError('INVALID_OPTIONS', `${store}: cannot decide a limit of ${algorithm.name} (${algorithm.tag}), only of ${tags}`)
}
