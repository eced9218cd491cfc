import { MAX_MICROS, type Micros } from '../time/micros.ts'
import { type BucketPlan, mulDivRest, type Span } from './bucket-plan.ts'

/** The most whole tokens to compute with: more than any plan's burst, and below 2^34 so that products stay exact. */
const MAX_DEBT = 9_007_199_256

/** An instant: whole microseconds and a rest in n-ths of a microsecond; n is the plan's. */
interface Instant {
  readonly zero: Micros
  readonly rest: number
}

/** Whole tokens that suffice, once added, to bring the bucket to empty or above at `time`; 0 if it is not below empty now. */
export function debtOf({ perToken, n }: BucketPlan, { zero, rest }: Instant, time: Micros): number {
  if (zero < time || (zero === time && rest === 0)) return 0
  return Math.min(MAX_DEBT, Math.floor((zero - time + 1) / (perToken.micros + perToken.rest / n)) + 1)
}

/** The time in which this many whole tokens are refilled. Exact for the largest debt that any bucket can have. */
export function owedSpan({ perToken, n }: BucketPlan, tokens: number): Span {
  const [micros, rest] = mulDivRest(tokens, perToken.rest, n)
  return { micros: tokens * perToken.micros + micros, rest }
}

/**
 * The latest `zero` that a bucket may have at `time`. Its debt is then refilled within a hundred years, and the instant at which it is full
 * is still a safe integer.
 */
export function latestZero({ full }: BucketPlan, time: Micros): Micros {
  return Math.min(time + MAX_MICROS, Number.MAX_SAFE_INTEGER - full.micros - 1)
}

/** Whether `one` is later than `other`. */
export function isLater(one: Instant, other: Instant): boolean {
  return one.zero > other.zero || (one.zero === other.zero && one.rest > other.rest)
}
