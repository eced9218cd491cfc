import type { AnyLimit } from '../algorithms/algorithm.ts'

/** Computes a key's phase: a number that lets the windows of different keys begin at different instants. 0 if the limit uses no phase. */
export function phaseOf({ phased, algorithm }: AnyLimit, key: string): number {
  return phased ? (algorithm.phaseOf?.(key) ?? 0) : 0
}
