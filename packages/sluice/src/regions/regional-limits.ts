import type { AnyLimit } from '../algorithms/algorithm.ts'
import { fractionOf } from '../algorithms/share.ts'
import { attempt, LimiterError } from '../errors/limiter-error.ts'
import { type RegionalLimit, regionalLimit, UNITS } from './rights/limit.ts'

export interface RegionalLimits {
  /** Undefined if the part cannot be granted. Cached by limit. */
  partOf(limit: AnyLimit): AnyLimit | undefined
  /**
   * The limit, if regions may send each other units of it. Undefined without escrow, and for all but token buckets of which all shares are
   * exact.
   */
  bucketOf(limit: AnyLimit): RegionalLimit | undefined
  /** Why the regions cannot divide a limit; undefined if they can. */
  problemOf(limit: AnyLimit): string | undefined
}

interface Known {
  readonly part: AnyLimit | undefined
  readonly problem: string | undefined
  readonly bucket: RegionalLimit | undefined
}

/**
 * @param weights of all regions, in thousandths; without escrow at least 1 for this region
 * @param escrow whether shares of token buckets may change
 */
export function regionalLimits(region: string, weights: ReadonlyMap<string, number>, escrow: boolean): RegionalLimits {
  const units = weights.get(region) as number
  const known = new WeakMap<AnyLimit, Known>()
  // A map lookup takes a tenth of the time of a decision.
  let last: AnyLimit | undefined
  let lastPart: AnyLimit | undefined
  let lastOfBucket: AnyLimit | undefined
  let lastBucket: RegionalLimit | undefined
  const find = (limit: AnyLimit): Known => {
    const found = known.get(limit)
    if (found !== undefined) return found
    const own = problemOf(region, weights, limit, escrow)
    const shares = escrow && own === undefined && limit.algorithm.tag === 'tb' ? attempt(() => regionalLimit(limit.plan)) : undefined
    const problem = shares instanceof LimiterError ? shares.message : own
    // `problem` refuses a limit only when a limiter or engine is created. In other calls, a bucket of which some shares are not exact gets
    // its fixed part.
    const part = own === undefined ? fractionOf(limit, units, UNITS) : undefined
    const made = { part, problem, bucket: shares instanceof LimiterError ? undefined : shares }
    known.set(limit, made)
    return made
  }
  return {
    partOf(limit) {
      if (limit === last) return lastPart
      lastPart = find(limit).part
      last = limit
      return lastPart
    },
    bucketOf(limit) {
      if (limit === lastOfBucket) return lastBucket
      lastBucket = find(limit).bucket
      lastOfBucket = limit
      return lastBucket
    },
    problemOf: (limit) => find(limit).problem,
  }
}

/**
 * Undefined if the limit is accepted. If any region's part is not exact, all regions refuse the limit: otherwise a policy would load in
 * some of them only.
 */
function problemOf(region: string, weights: ReadonlyMap<string, number>, limit: AnyLimit, escrow: boolean): string | undefined {
  for (const [name, units] of weights) {
    if (units === 0 && name === region && limit.algorithm.tag !== 'tb')
      return `the part of region ${name} is nothing, for good: units of a ${limit.algorithm.name} cannot be sent`
    if (units === 0) continue
    const part = fractionOf(limit, units, UNITS)
    const what = `the part of region ${name}, ${units} of ${UNITS} units`
    if (part === undefined) return `${what}, cannot be represented exactly; round the limit, or choose other weights`
    // With escrow, a part of a bucket may be below one token, because the region can get more units later.
    if (escrow && limit.algorithm.tag === 'tb') continue
    if (name === region && limit.capacity >= 1 && part.capacity < 1)
      return `${what}, is at most ${part.capacity} of ${limit.capacity} tokens: less than a call costs. Raise it, or give it to one region`
  }
  return undefined
}
