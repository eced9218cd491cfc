import { MAX_MICROS, type Micros } from '../time/micros.ts'
import { MICRO } from './decimal.ts'

/** `micros` whole microseconds plus `rest` n-ths of a microsecond, for the `n` of the bucket's plan. */
export interface Span {
  readonly micros: Micros
  readonly rest: number
}

/**
 * The instant at which a bucket would be empty: its level divided by its rate, before now, or after now for a debt. It is `zero` microseconds
 * plus `rest` n-ths of a microsecond, for the `n` of the plan.
 */
export interface Zero {
  readonly zero: Micros
  readonly rest: number
}

/**
 * A rate of `n` micro-tokens every `m` microseconds, in lowest terms, and a burst in micro-tokens. `perToken` and `perMicro` are the times
 * to refill one token and one micro-token.
 */
export interface BucketPlan {
  readonly n: number
  readonly m: Micros
  readonly burst: number
  readonly perToken: Span
  readonly perMicro: Span
  /** How long an empty bucket takes to fill. */
  readonly full: Span
  /** A bucket that is full at an instant t has the state `{ zero: t - emptyBefore.micros, rest: emptyBefore.rest }`. */
  readonly emptyBefore: Span
  /** Microseconds by which a call may be charged before its tokens are refilled; 0 if calls do not wait. */
  readonly ahead: Micros
}

/** How many whole `unit` spans fit between `zero` and `time`. Corrects an estimate in doubles by exact comparisons. */
export function affordable(plan: { readonly n: number }, unit: Span, zero: Micros, rest: number, time: Micros): number {
  const span = time - zero
  if (span <= 0) return 0
  // The quotient of two whole numbers below 2^53, rounded down, is exact.
  if (unit.rest === 0 && rest === 0) return Math.floor(span / unit.micros)
  let count = Math.max(0, Math.floor((span - rest / plan.n) / (unit.micros + unit.rest / plan.n)))
  while (count > 0 && after(plan, unit, zero, rest, count) > time) count -= 1
  while (after(plan, unit, zero, rest, count + 1) <= time) count += 1
  return count
}

/** The instant `count` spans after `zero` plus `rest`, rounded up to a whole microsecond. */
export function after(plan: { readonly n: number }, unit: Span, zero: Micros, rest: number, count: number): Micros {
  const parts = rest + count * unit.rest
  return zero + count * unit.micros + (parts === 0 ? 0 : Math.ceil(parts / plan.n))
}

/** The time in which this many micro-tokens are refilled. */
export function spanOf(plan: Pick<BucketPlan, 'n' | 'perToken' | 'perMicro'>, micro: number): Span {
  const tokens = Math.floor(micro / MICRO)
  const parts = micro - tokens * MICRO
  const sum = tokens * plan.perToken.rest + parts * plan.perMicro.rest
  const carry = Math.floor(sum / plan.n)
  return { micros: tokens * plan.perToken.micros + parts * plan.perMicro.micros + carry, rest: sum - carry * plan.n }
}

/** Carries, so that the rest is from 0 to n - 1. */
export function normal({ n }: BucketPlan, zero: Micros, rest: number): Zero {
  const carry = Math.floor(rest / n)
  return { zero: zero + carry, rest: rest - carry * n }
}

export function isLater(one: Zero, other: Zero): boolean {
  return one.zero > other.zero || (one.zero === other.zero && one.rest > other.rest)
}

/**
 * What the bucket contains at `time`, in m-ths of a micro-token (for the `m` of the plan). Not capped at the burst, and below 0 for a debt.
 */
export function levelAt({ n }: BucketPlan, { zero, rest }: Zero, time: Micros): bigint {
  return BigInt(time - zero) * BigInt(n) - BigInt(rest)
}

/** floor(a / b); b is above 0. */
export function floorDiv(a: bigint, b: bigint): bigint {
  return (a - (((a % b) + b) % b)) / b
}

export function planOf(n: number, m: Micros, burst: number, ahead: Micros = 0): BucketPlan {
  const tokenTime = m * MICRO
  const perToken = { micros: Math.floor(tokenTime / n), rest: tokenTime % n }
  const perMicro = { micros: Math.floor(m / n), rest: m % n }
  const full = spanOf({ n, perToken, perMicro }, burst)
  const emptyBefore = full.rest === 0 ? full : { micros: full.micros + 1, rest: n - full.rest }
  return { n, m, burst, perToken, perMicro, full, emptyBefore, ahead }
}

export function samePlan(one: BucketPlan, other: BucketPlan): boolean {
  return one === other || (one.n === other.n && one.m === other.m && one.burst === other.burst)
}

/** Why whole numbers below 2^53 cannot represent the plan; undefined if they can. */
export function inexact(plan: BucketPlan): string | undefined {
  if (!Number.isSafeInteger(plan.m * MICRO)) return 'the rate is too slow to be exact; the slowest takes about 285 years for a token'
  const byTime = Math.floor(Number((BigInt(MAX_MICROS) * BigInt(plan.n)) / BigInt(plan.m)) / MICRO)
  const bySize = Math.floor(Number.MAX_SAFE_INTEGER / plan.n) - MICRO - 2
  const largest = Math.min(byTime, bySize)
  if (largest < 1) return 'the rate has too many digits or is too slow to be exact; round it'
  if (plan.burst <= largest * MICRO) return undefined
  return `the largest burst at this rate is ${largest} (${byTime < bySize ? 'it must fill within a hundred years' : 'exact whole numbers end there'})`
}

function gcd(a: number, b: number): number {
  return b === 0 ? a : gcd(b, a % b)
}

/** n / m in lowest terms. */
export function reduced(n: number, m: number): [n: number, m: number] {
  const divisor = gcd(n, m)
  return [n / divisor, m / divisor]
}
