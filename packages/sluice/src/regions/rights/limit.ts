import { type BucketPlan, inexact, planOf, reduced, samePlan } from '../../algorithms/bucket-plan.ts'
import { portionOf } from '../../algorithms/share.ts'
import { attempt, LimiterError } from '../../errors/limiter-error.ts'

/**
 * The number of units of a cell (one key of one limit). All regions together hold at most this many. The number is fixed, because regions
 * send each other numbers of units, which would mean something else if it changed.
 */
export const UNITS = 1000

/** A token bucket that is divided among regions. */
export interface RegionalLimit {
  /**
   * Names the limit in messages, by the numbers of its plan (rate and burst). Tokens that were sent under one such name are not received
   * under another.
   */
  readonly policy: string
  readonly whole: BucketPlan
  /**
   * A hash of the key, below 2^32, the same in all regions. If the limit has too few tokens to be divided, the hash chooses the region in
   * which the key begins with all units. Undefined: the key counts as divided.
   */
  readonly hash?: number
  /**
   * The bucket of a region that holds `units` of a key, at least 1. With the rate r and the burst B of the limit, its rate is r * units /
   * UNITS and its burst floor(B * units / UNITS).
   */
  share(units: number): BucketPlan
}

/**
 * Divides a token bucket into shares. Every share fills in the same time as the whole bucket.
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

/** The plan that a limit's `policy` names; undefined for a text that names none. */
export function planIn(policy: string): BucketPlan | undefined {
  const numbers = /^([1-9]\d{0,15})\/([1-9]\d{0,15})\/([1-9]\d{0,15})$/.exec(policy)?.slice(1).map(Number)
  if (numbers === undefined || !numbers.every(Number.isSafeInteger)) return undefined
  const plan = planOf(...(numbers as [number, number, number]))
  return inexact(plan) === undefined ? plan : undefined
}

/**
 * Limits by the `policy` that names them. Cached because making one takes a millisecond, and a message names the same limit for many keys.
 */
const NAMED = new Map<string, RegionalLimit | undefined>()
const MAX_NAMED = 1_000

/** The limit that the `policy` in a message names. Undefined if it names none, or one that cannot be divided exactly. */
export function limitNamed(policy: string): RegionalLimit | undefined {
  if (NAMED.has(policy)) return NAMED.get(policy)
  const plan = planIn(policy)
  const made = plan === undefined ? undefined : attempt(() => regionalLimit(plan))
  const limit = made instanceof LimiterError ? undefined : made
  if (NAMED.size >= MAX_NAMED) NAMED.clear()
  NAMED.set(policy, limit)
  return limit
}

/**
 * The limit for one key, with the key's hash. In eras in which the limit is not divided, the hash chooses the region in which the key
 * begins with all units.
 */
export function keyedLimit(limit: RegionalLimit, hash: number): RegionalLimit {
  return limit.hash === hash ? limit : Object.freeze({ ...limit, hash })
}

/** The part `units` / UNITS of an amount of micro-tokens, rounded down. So the parts of all regions together are at most the amount. */
export function portion(micro: number, units: number): number {
  return portionOf(micro, units, UNITS)
}

/** Whether a bucket was written under the share with this many units. */
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
