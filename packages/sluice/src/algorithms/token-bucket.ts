import { LimiterError } from '../errors/limiter-error.ts'
import { refuseUnknown } from '../errors/options.ts'
import { LONGEST, type Micros, toMillis } from '../time/micros.ts'
import type { Algorithm, CompiledLimit, Step, View } from './algorithm.ts'
import { fromMicroTokens, MICRO, toMicroTokens } from './decimal.ts'
import { parseRate, type Rate } from './rate.ts'

/** Half the digits of the largest period a plan accepts (m < 2^34). */
const HALF = 131_072

/** A length of time, exact: whole microseconds and a rest in n-ths of one, n being the plan's. */
interface Span {
  readonly micros: Micros
  readonly rest: number
}

/**
 * `n` micro-tokens every `m` microseconds, reduced, and a burst in micro-tokens. The spans follow from these three; they are
 * kept because every decision needs them.
 */
export interface BucketPlan {
  readonly n: number
  readonly m: Micros
  readonly burst: number
  readonly perToken: Span
  readonly perMicro: Span
  readonly full: Span
}

/**
 * `zero`: the instant at which the bucket was last empty, and `rest` n-ths of a microsecond after it. `seen`: the latest time
 * of a charged call, below which time is not believed (law 3). `hold`: the longest time any earlier plan of this state
 * needed to fill; until it has passed since `seen` the state is kept, so that two alternating policies mint nothing (law 7).
 * `n`, `m`, `burst`: the plan that wrote it.
 */
export interface BucketState {
  readonly zero: Micros
  readonly rest: number
  readonly seen: Micros
  readonly hold: Micros
  readonly n: number
  readonly m: Micros
  readonly burst: number
}

/** What a token bucket is made of. */
export interface TokenBucketOptions {
  readonly rate: Rate
  /** Most tokens the bucket holds; at most six decimals. */
  readonly burst: number | string
}

/**
 * A token bucket: `burst` tokens at first, refilled continuously at `rate`. Over every interval of length t at most
 * burst + rate * t is admitted, exactly (Rate Limiting at Scale; Turner 1986).
 * @throws LimiterError INVALID_OPTIONS, INVALID_RATE, INVALID_BURST, or LIMIT_NOT_EXACT where whole numbers below 2^53 cannot carry the limit
 */
export function tokenBucket(options: TokenBucketOptions): CompiledLimit<BucketPlan, BucketState> {
  refuseUnknown('tokenBucket', options, ['rate', 'burst'])
  const { micro, per } = parseRate(options.rate)
  const burst = toMicroTokens(options.burst)
  if (burst === undefined || burst === 0) {
    throw new LimiterError(
      'INVALID_BURST',
      `${JSON.stringify(options.burst)} is not a burst: expected tokens above 0 and at most 9007199254, with at most six decimals`,
    )
  }
  const divisor = gcd(micro, per)
  const plan = planOf(micro / divisor, per / divisor, burst)
  const problem = inexact(plan)
  if (problem !== undefined) {
    throw new LimiterError('LIMIT_NOT_EXACT', `token bucket of rate ${describe(options.rate)} and burst ${options.burst}: ${problem}`)
  }
  const windowMs = toMillis(plan.full.micros + (plan.full.rest > 0 ? 1 : 0))
  return Object.freeze({ algorithm: tokenBucketKernel, plan, capacity: fromMicroTokens(burst), windowMs })
}

export const tokenBucketKernel: Algorithm<BucketPlan, BucketState> = Object.freeze({
  name: 'token-bucket',
  tag: 'tb',
  version: 1,
  adopt,
  decide,
  view(plan: BucketPlan, state: BucketState | undefined, now: Micros): View {
    const time = state === undefined ? now : Math.max(now, state.seen)
    const { zero, rest } = filled(plan, state, time)
    return look(plan, zero, rest, time, now)
  },
  expiresAt(plan: BucketPlan, state: BucketState): Micros {
    const end = state.rest + plan.full.rest
    const fresh = state.zero + plan.full.micros + Math.ceil(end / plan.n)
    return state.hold > 0 ? Math.max(fresh, state.seen + state.hold) : fresh
  },
  envelope: ({ n, m, burst }: BucketPlan) => ({ n, m, burst }),
  codec: {
    encodePlan: (plan: BucketPlan) => [plan.n, plan.m, plan.burst],
    encodeState: (s: BucketState) => [s.zero, s.rest, s.seen, s.hold, s.n, s.m, s.burst],
    decodeState([zero = 0, rest = 0, seen = 0, hold = 0, n = 1, m = 1, burst = 1]: readonly number[]): BucketState {
      return { zero, rest, seen, hold, n, m, burst }
    },
  },
})

function decide(plan: BucketPlan, state: BucketState | undefined, now: Micros, cost: number): Step<BucketState> {
  const time = state === undefined ? now : Math.max(now, state.seen)
  const { zero, rest, hold } = filled(plan, state, time)
  const micro = Math.round(cost * MICRO)
  if (micro > plan.burst) return { outcome: 'impossible', retryAfter: 0, state, ...look(plan, zero, rest, time, now) }
  const tokens = Math.floor(micro / MICRO)
  const parts = micro - tokens * MICRO
  const sum = rest + tokens * plan.perToken.rest + parts * plan.perMicro.rest
  const carry = Math.floor(sum / plan.n)
  const movedZero = zero + tokens * plan.perToken.micros + parts * plan.perMicro.micros + carry
  const movedRest = sum - carry * plan.n
  if (movedZero > time || (movedZero === time && movedRest > 0)) {
    // Counted from the time given: where that lies before `seen`, waiting starts earlier and lasts longer.
    return { outcome: 'denied', retryAfter: movedZero - now + (movedRest > 0 ? 1 : 0), state, ...look(plan, zero, rest, time, now) }
  }
  const next = { zero: movedZero, rest: movedRest, seen: time, hold, n: plan.n, m: plan.m, burst: plan.burst }
  return { outcome: 'allowed', retryAfter: 0, state: next, ...look(plan, movedZero, movedRest, time, now) }
}

/** Where `zero` stands at `time`: never further back than a full bucket. */
function filled(plan: BucketPlan, state: BucketState | undefined, time: Micros): { zero: Micros; rest: number; hold: Micros } {
  const rest = plan.full.rest === 0 ? 0 : plan.n - plan.full.rest
  const zero = time - plan.full.micros - (rest === 0 ? 0 : 1)
  if (state === undefined) return { zero, rest, hold: 0 }
  if (state.zero > zero || (state.zero === zero && state.rest > rest)) return state
  return { zero, rest, hold: state.hold > 0 && time < state.seen + state.hold ? state.hold : 0 }
}

/** What is left at `time`, with waits counted from the time that was given. */
function look(plan: BucketPlan, zero: Micros, rest: number, time: Micros, now: Micros): View {
  const remaining = affordable(plan, plan.perToken, zero, rest, time)
  const full = zero + plan.full.micros + Math.ceil((rest + plan.full.rest) / plan.n)
  const resetAfter = full > time ? full - now : 0
  const next = (remaining + 1) * MICRO > plan.burst ? resetAfter : after(plan, plan.perToken, zero, rest, remaining + 1) - now
  return { remaining, replenishAfter: next, resetAfter }
}

/** The largest whole number of `unit` spans that fit between zero and `time`: an estimate in doubles, made exact by comparing. */
function affordable(plan: { readonly n: number }, unit: Span, zero: Micros, rest: number, time: Micros): number {
  const span = time - zero
  if (span <= 0) return 0
  let count = Math.max(0, Math.floor((span - rest / plan.n) / (unit.micros + unit.rest / plan.n)))
  while (count > 0 && after(plan, unit, zero, rest, count) > time) count -= 1
  while (after(plan, unit, zero, rest, count + 1) <= time) count += 1
  return count
}

/** First whole microsecond at or after zero moved by `count` spans. */
function after(plan: { readonly n: number }, unit: Span, zero: Micros, rest: number, count: number): Micros {
  return zero + count * unit.micros + Math.ceil((rest + count * unit.rest) / plan.n)
}

/**
 * The tokens the old plan would have left, cut to the new burst, as a `zero` of the new plan, rounded up by less than an
 * n-th of a microsecond (law 7).
 */
function adopt(plan: BucketPlan, state: BucketState, now: Micros): BucketState | undefined {
  if (state.n === plan.n && state.m === plan.m && state.burst === plan.burst) return state
  const time = Math.max(now, state.seen)
  const old = planOf(state.n, state.m, state.burst)
  if (tokenBucketKernel.expiresAt(old, state) <= time) return undefined
  const { zero, rest } = filled(old, state, time)
  const level = levelOf(old, zero, rest, time)
  const cut = level.micro >= plan.burst
  const micro = cut ? plan.burst : level.micro
  // A fraction of a micro-token, level.part / old.m, lasts part * plan.m / old.m n-ths of a microsecond.
  const extra = cut ? 0 : mulDiv(level.part, plan.m, old.m)
  const span = spanOf(plan, micro)
  const behind = span.rest + extra
  const back = Math.ceil(behind / plan.n)
  const hold = Math.max(state.hold, old.full.micros + (old.full.rest > 0 ? 1 : 0))
  return { zero: time - span.micros - back, rest: back * plan.n - behind, seen: time, hold, n: plan.n, m: plan.m, burst: plan.burst }
}

/** The level at `time`: whole micro-tokens and a rest in m-ths of one. */
function levelOf(plan: BucketPlan, zero: Micros, rest: number, time: Micros): { micro: number; part: number } {
  const tokens = affordable(plan, plan.perToken, zero, rest, time)
  const moved = rest + tokens * plan.perToken.rest
  const carry = Math.floor(moved / plan.n)
  const zeroLeft = zero + tokens * plan.perToken.micros + carry
  const restLeft = moved - carry * plan.n
  const parts = affordable(plan, plan.perMicro, zeroLeft, restLeft, time)
  const elapsed = (time - zeroLeft) * plan.n - restLeft
  return { micro: tokens * MICRO + parts, part: Math.max(0, elapsed - parts * plan.m) }
}

/** How long a whole number of micro-tokens takes to flow in. */
function spanOf(plan: Pick<BucketPlan, 'n' | 'perToken' | 'perMicro'>, micro: number): Span {
  const tokens = Math.floor(micro / MICRO)
  const parts = micro - tokens * MICRO
  const sum = tokens * plan.perToken.rest + parts * plan.perMicro.rest
  const carry = Math.floor(sum / plan.n)
  return { micros: tokens * plan.perToken.micros + parts * plan.perMicro.micros + carry, rest: sum - carry * plan.n }
}

function planOf(n: number, m: Micros, burst: number): BucketPlan {
  const tokenTime = m * MICRO
  const perToken = { micros: Math.floor(tokenTime / n), rest: tokenTime % n }
  const perMicro = { micros: Math.floor(m / n), rest: m % n }
  const full = spanOf({ n, perToken, perMicro }, burst)
  return { n, m, burst, perToken, perMicro, full }
}

/** Why the plan cannot be carried by whole numbers below 2^53, or undefined. */
function inexact(plan: BucketPlan): string | undefined {
  if (!Number.isSafeInteger(plan.m * MICRO)) return 'the rate is too slow to be exact; the slowest takes about 285 years for a token'
  const byTime = Math.floor(Number((BigInt(LONGEST) * BigInt(plan.n)) / BigInt(plan.m)) / MICRO)
  const bySize = Math.floor(Number.MAX_SAFE_INTEGER / plan.n) - MICRO - 2
  const largest = Math.min(byTime, bySize)
  if (largest < 1) return 'the rate has too many digits or is too slow to be exact; round it'
  if (plan.burst <= largest * MICRO) return undefined
  return `the largest burst at this rate is ${largest} (${byTime < bySize ? 'it must fill within a hundred years' : 'exact whole numbers end there'})`
}

/** floor(a * b / c) for whole numbers below 2^34, exact though a * b passes 2^53: b is taken in two halves. */
function mulDiv(a: number, b: number, c: number): number {
  const high = Math.floor(b / HALF)
  const first = a * high
  const quotient = Math.floor(first / c)
  const carried = (first - quotient * c) * HALF + a * (b - high * HALF)
  return quotient * HALF + Math.floor(carried / c)
}

function gcd(a: number, b: number): number {
  return b === 0 ? a : gcd(b, a % b)
}

function describe(rate: Rate): string {
  return typeof rate === 'string' ? rate : `${rate.tokens} per ${rate.per}${typeof rate.per === 'number' ? ' ms' : ''}`
}
