import type { AnyLimit } from '../algorithms/algorithm.ts'

/** Spreads the windows of keys; 0 if the limit uses no phase. */
export function phaseOf({ phased, algorithm }: AnyLimit, key: string): number {
  return phased ? (algorithm.phaseOf?.(key) ?? 0) : 0
}
