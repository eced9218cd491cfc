import { MAX_MICROS, type Micros } from '../time/micros.ts'
import { type BucketPlan, mulDivRest, type Span } from './bucket-plan.ts'

/** Whole tokens that are reckoned with at most: more than any plan's burst, and below 2^34 for exact products. */
const MAX_DEBT = 9_007_199_256

/** An instant: whole microseconds and n-ths of one, n being a plan's. */
interface Instant {
  readonly zero: Micros
  readonly rest: number
}

/** So many whole tokens, at least, that a bucket with them put in is not below empty at `time`; 0 where it is not so now. */
export function debtOf({ perToken, n }: BucketPlan, { zero, rest }: Instant, time: Micros): number {
  if (zero < time || (zero === time && rest === 0)) return 0
  return Math.min(MAX_DEBT, Math.floor((zero - time + 1) / (perToken.micros + perToken.rest / n)) + 1)
}

/** How long so many whole tokens take to flow in, exact for as many as any bucket can owe. */
export function owedSpan({ perToken, n }: BucketPlan, tokens: number): Span {
  const [micros, rest] = mulDivRest(tokens, perToken.rest, n)
  return { micros: tokens * perToken.micros + micros, rest }
}

/**
 * The latest `zero` that a bucket may have at `time`: what it owes flows in within a hundred years, and it is full before whole
 * numbers end.
 */
export function latestZero({ full }: BucketPlan, time: Micros): Micros {
  return Math.min(time + MAX_MICROS, Number.MAX_SAFE_INTEGER - full.micros - 1)
}

/** Whether one instant is later than another. */
export function isLater(one: Instant, other: Instant): boolean {
  return one.zero > other.zero || (one.zero === other.zero && one.rest > other.rest)
}
