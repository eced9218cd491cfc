import { type BucketPlan, inexact, planOf, reduced, samePlan } from '../../algorithms/bucket-plan.ts'
import { portionOf } from '../../algorithms/share.ts'
import { attempt, LimiterError } from '../../errors/limiter-error.ts'

/** Units of a cell (one key of one limit) in all regions together. Fixed, because messages contain numbers of units. */
export const UNITS = 1000

/** A token bucket that is divided among regions. */
export interface RegionalLimit {
  /** Names the limit in messages, by its rate and burst. Tokens that were sent under one name are not received under another. */
  readonly policy: string
  readonly whole: BucketPlan
  /**
   * A hash of the key, below 2^32, the same in all regions. If the limit is too small to be divided, the hash chooses the region that
   * holds all units of the key at first, and again after each change of weights. Undefined: the limit counts as divided.
   */
  readonly hash?: number
  /**
   * The bucket of a region with `units` of a key, at least 1. Of a limit with rate r and burst B, it has the rate r * units / UNITS and the
   * burst floor(B * units / UNITS).
   */
  share(units: number): BucketPlan
}

/**
 * Divides a bucket into shares. Every share fills in the same time as the whole bucket.
 * @throws LimiterError LIMIT_NOT_EXACT if whole numbers below 2^53 cannot represent one of the shares
 */
export function regionalLimit(whole: BucketPlan): RegionalLimit {
  const shares: BucketPlan[] = []
  const share = (units: number): BucketPlan => (shares[units] ??= shareOf(whole, units))
  for (let units = 1; units <= UNITS; units += 1) {
    const problem = problemOf(whole, units)
    if (problem !== undefined) throw new LimiterError('LIMIT_NOT_EXACT', `a region's share of ${units} in ${UNITS}: ${problem}`)
  }
  return Object.freeze({ policy: `${whole.n}/${whole.m}/${whole.burst}`, whole, share })
}

/** The plan that a `policy` names; undefined for invalid text. */
export function planIn(policy: string): BucketPlan | undefined {
  const numbers = /^([1-9]\d{0,15})\/([1-9]\d{0,15})\/([1-9]\d{0,15})$/.exec(policy)?.slice(1).map(Number)
  if (numbers === undefined || !numbers.every(Number.isSafeInteger)) return undefined
  const plan = planOf(...(numbers as [number, number, number]))
  return inexact(plan) === undefined ? plan : undefined
}

/** Cached, because making one takes a millisecond, and messages name the same limits again and again. Oldest first. */
const NAMED = new Map<string, RegionalLimit | undefined>()
/** More than the overrides of a policy. With so few shares of each, all take about 100 MB. */
const [MAX_NAMED, MAX_NAMED_SHARES] = [12_000, 16]

/** Undefined if `policy` names no limit, or one that cannot be divided exactly. */
export function limitNamed(policy: string): RegionalLimit | undefined {
  if (NAMED.has(policy)) return NAMED.get(policy)
  const plan = planIn(policy)
  const made = plan === undefined ? undefined : attempt(() => regionalLimit(plan))
  const limit = made === undefined || made instanceof LimiterError ? undefined : withFewShares(made)
  if (NAMED.size === MAX_NAMED) NAMED.delete(NAMED.keys().next().value as string)
  NAMED.set(policy, limit)
  return limit
}

/** Caches few shares, in a map: the array of `regionalLimit` is faster, but has room for all. */
function withFewShares(limit: RegionalLimit): RegionalLimit {
  const shares = new Map<number, BucketPlan>()
  const share = (units: number): BucketPlan => {
    let plan = shares.get(units)
    if (plan === undefined) {
      if (shares.size === MAX_NAMED_SHARES) shares.clear()
      shares.set(units, (plan = shareOf(limit.whole, units)))
    }
    return plan
  }
  return Object.freeze({ ...limit, share })
}

/** Adds a key's hash to a limit, see `RegionalLimit.hash`. */
export function keyedLimit(limit: RegionalLimit, hash: number): RegionalLimit {
  return limit.hash === hash ? limit : Object.freeze({ ...limit, hash })
}

/** Rounded down, so that the parts of all regions together are at most the amount. */
export function portion(micro: number, units: number): number {
  return portionOf(micro, units, UNITS)
}

export function isShare(limit: RegionalLimit, units: number, plan: BucketPlan): boolean {
  return units > 0 && samePlan(limit.share(units), plan)
}

function shareOf({ n, m, burst }: BucketPlan, units: number): BucketPlan {
  return planOf(...reduced(n * units, m * UNITS), portion(burst, units))
}

function problemOf({ n, m, burst }: BucketPlan, units: number): string | undefined {
  if (portion(burst, units) === 0) return 'its burst is below a millionth of a token'
  if (!Number.isSafeInteger(n * units) || !Number.isSafeInteger(m * UNITS)) return 'the rate has too many digits to be exact; round it'
  return inexact(shareOf({ n, m, burst } as BucketPlan, units))
}
