import type { AnyLimit } from '../algorithms/algorithm.ts'
import { hash32 } from '../decision/jitter.ts'

/** Derives the phase that spreads keys over a window: a public hash of the key, the same in every process. 0 if the limit uses no phase. */
export function phaseOf(limit: AnyLimit, key: string): number {
  return limit.phased ? hash32(key) : 0
}
