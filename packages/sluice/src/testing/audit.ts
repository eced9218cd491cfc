import type { AnyLimit } from '../algorithms/algorithm.ts'
import { MICRO, microCost } from '../algorithms/decimal.ts'
import type { Micros } from '../time/micros.ts'

/** A call as observed: when the store decided it, its cost and whether it passed. */
export interface TraceEntry {
  /** Store time, microseconds since 1970. */
  readonly at: Micros
  readonly cost: number
  readonly allowed: boolean
}

export interface Audit {
  /** Tokens admitted above burst + rate * t in the worst interval; 0 when the limit held everywhere. */
  readonly overGrant: number
  /** The same as a percentage of what that interval permits. */
  readonly overGrantPercent: number
  /** The worst interval: the one with the largest excess or, without any, the smallest margin. */
  readonly from: Micros
  readonly to: Micros
  readonly admitted: number
  readonly permitted: number
}

/**
 * Finds the largest over-grant over every interval of a trace (law 5), in exact integers. The order of the entries does not matter. The
 * time is linear after sorting: for an interval that ends at one admission, the best start is the earlier one that leaves the least
 * unused.
 * @throws LimiterError INVALID_COST for an invalid cost of an admitted entry
 */
export function audit(trace: readonly TraceEntry[], limit: AnyLimit): Audit {
  const { n, m, burst } = limit.algorithm.envelope(limit.plan)
  const [rate, per] = [BigInt(n), BigInt(m)]
  const admitted = trace.filter((entry) => entry.allowed).sort((a, b) => a.at - b.at)
  let sum = 0n
  let start = { value: 0n, at: admitted[0]?.at ?? 0, before: 0n }
  let worst = { value: -BigInt(burst) * per, from: 0, to: 0, taken: 0n }
  for (const { at, cost } of admitted) {
    // Everything is multiplied by m, so that the rate stays an integer.
    const here = rate * BigInt(at) - sum * per
    if (sum === 0n || here > start.value) start = { value: here, at, before: sum }
    sum += BigInt(microCost(cost))
    const value = sum * per - rate * BigInt(at) + start.value - BigInt(burst) * per
    if (value > worst.value) worst = { value, from: start.at, to: at, taken: sum - start.before }
  }
  const permitted = burst + (n * (worst.to - worst.from)) / m
  const overGrant = worst.value > 0n ? Number(worst.value) / m / MICRO : 0
  return {
    overGrant,
    overGrantPercent: (overGrant / (permitted / MICRO)) * 100,
    from: worst.from,
    to: worst.to,
    admitted: Number(worst.taken) / MICRO,
    permitted: permitted / MICRO,
  }
}
