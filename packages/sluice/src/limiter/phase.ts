import type { AnyLimit } from '../algorithms/algorithm.ts'
import { hash32 } from '../decision/jitter.ts'

/** What spreads keys over a window: a public hash of the key, the same in every process; 0 for a limit that asks for none. */
export function phaseOf(limit: AnyLimit, key: string): number {
  return limit.phased ? hash32(key) : 0
}
