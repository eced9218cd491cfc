import { type BucketPlan, inexact, planOf, reduced, samePlan } from '../../algorithms/bucket-plan.ts'
import { portionOf } from '../../algorithms/share.ts'
import { attempt, LimiterError } from '../../errors/limiter-error.ts'

/** The right to one cell, which all regions together divide. A constant of the rows that regions exchange. */
export const UNITS = 1000

/** A token bucket whose right is divided among regions. */
export interface RegionalLimit {
  /** Names the limit in rows: the numbers of its plan. Tokens that were sent under one limit are not received under another. */
  readonly policy: string
  readonly whole: BucketPlan
  /**
   * A hash of the key, below 2^32, the same in all regions: it chooses the home of a cell that is not divided (R8). Undefined: the cell is
   * taken as divided.
   */
  readonly hash?: number
  /** The bucket of a region that holds so many units, at least 1: rate r * units / UNITS, burst floor(B * units / UNITS). */
  share(units: number): BucketPlan
}

/**
 * Divides a token bucket into shares. All shares fill in the same time as the whole.
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

/** By policy, because making one takes a millisecond, and a page has many rows of the same. */
const NAMED = new Map<string, RegionalLimit | undefined>()
const MAX_NAMED = 1_000

/** The limit that a row's `policy` names; undefined if it has no exact shares. */
export function limitNamed(policy: string): RegionalLimit | undefined {
  if (NAMED.has(policy)) return NAMED.get(policy)
  const plan = planIn(policy)
  const made = plan === undefined ? undefined : attempt(() => regionalLimit(plan))
  const limit = made instanceof LimiterError ? undefined : made
  if (NAMED.size >= MAX_NAMED) NAMED.clear()
  NAMED.set(policy, limit)
  return limit
}

/** The limit for one key. In eras in which the limit is not divided, the hash of the key chooses where its cell begins. */
export function keyedLimit(limit: RegionalLimit, hash: number): RegionalLimit {
  return limit.hash === hash ? limit : Object.freeze({ ...limit, hash })
}

/** Micro-tokens that are this share of an amount. The shares of an amount are together at most the amount. */
export function portion(micro: number, units: number): number {
  return portionOf(micro, units, UNITS)
}

/** Whether the bucket was written under this share. */
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
