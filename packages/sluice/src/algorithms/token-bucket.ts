import { LimiterError } from '../errors/limiter-error.ts'
import { refuseUnknown, shown } from '../errors/options.ts'
import { MAX_MICROS, type Micros } from '../time/micros.ts'
import type { Algorithm, CompiledLimit, MicroTokens, Step, View } from './algorithm.ts'
import {
  affordable,
  after,
  type BucketPlan,
  floorDiv,
  inexact,
  isLater,
  levelAt,
  normal,
  planOf,
  reduced,
  samePlan,
  spanOf,
  type Zero,
} from './bucket-plan.ts'
import { compiled, stepOf } from './compiled.ts'
import { MICRO, toMicroTokens } from './decimal.ts'
import { parseRate, type Rate } from './rate.ts'

/**
 * `zero`: the instant at which the bucket was last empty; `rest`: n-ths of a microsecond after it. `seen`: the latest time of a charged
 * call; earlier times are not believed (law 3). `keepFor`: the longest time that any earlier plan of this state needed to fill. The state
 * is kept that long after `seen`, so that two alternating policies mint nothing (law 7). `plan`: the plan that wrote the state.
 */
export interface BucketState {
  zero: Micros
  rest: number
  seen: Micros
  keepFor: Micros
  plan: BucketPlan
}

/** Options of a token bucket. */
export interface TokenBucketOptions {
  readonly rate: Rate
  /** The most tokens that the bucket holds; at most six decimals. */
  readonly burst: number | string
}

/**
 * A token bucket: `burst` tokens at first, refilled continuously at `rate`. Over every interval of length t it admits at most burst + rate
 * * t, exactly (Rate Limiting at Scale; Turner 1986).
 * @throws LimiterError INVALID_OPTIONS, INVALID_RATE, INVALID_BURST, or LIMIT_NOT_EXACT if whole numbers below 2^53 cannot represent the
 * limit
 */
export function tokenBucket(options: TokenBucketOptions): CompiledLimit<BucketPlan, BucketState> {
  refuseUnknown('tokenBucket', options, ['rate', 'burst'])
  const { micro, per } = parseRate(options.rate)
  const burst = toMicroTokens(options.burst)
  if (burst === undefined || burst === 0) {
    throw new LimiterError(
      'INVALID_BURST',
      `${shown(options.burst)} is not a burst: expected tokens above 0 and at most 9007199254, with at most six decimals`,
    )
  }
  const plan = planOf(...reduced(micro, per), burst)
  const problem = inexact(plan)
  if (problem !== undefined) {
    throw new LimiterError('LIMIT_NOT_EXACT', `token bucket of rate ${describe(options.rate)} and burst ${options.burst}: ${problem}`)
  }
  return compiled(tokenBucketKernel, plan, burst, plan.emptyBefore.micros)
}

/** A placeholder plan, for a step whose state was not written yet. */
const NOTHING: BucketPlan = planOf(1, 1, 1)

export const tokenBucketKernel: Algorithm<BucketPlan, BucketState> = Object.freeze({
  name: 'token-bucket',
  tag: 'tb',
  step: () => stepOf<BucketState>({ zero: 0.5, rest: 0, seen: 0.5, keepFor: 0, plan: NOTHING }),
  decide,
  adopt,
  adjust,
  view(plan: BucketPlan, state: BucketState | undefined, now: Micros): View {
    const time = timeOf(state, now)
    const { zero, rest } = filled(plan, state, time)
    return fillView(plan, zero, rest, time, now, { remaining: 0, replenishAfter: 0, resetAfter: 0 })
  },
  expiresAt(plan: BucketPlan, state: BucketState): Micros {
    const fresh = after(plan, plan.full, state.zero, state.rest, 1)
    return state.keepFor > 0 ? Math.max(fresh, state.seen + state.keepFor) : fresh
  },
  envelope: ({ n, m, burst }: BucketPlan) => ({ n, m, burst }),
  codec: {
    encodePlan: (plan: BucketPlan) => [plan.n, plan.m, plan.burst],
    encodeState: (s: BucketState) => [s.zero, s.rest, s.seen, s.keepFor, s.plan.n, s.plan.m, s.plan.burst],
    decodeState([zero = 0, rest = 0, seen = 0, keepFor = 0, n = 1, m = 1, burst = 1]: readonly number[], known?: BucketPlan): BucketState {
      const same = known?.n === n && known.m === m && known.burst === burst
      return { zero, rest, seen, keepFor, plan: same ? known : planOf(n, m, burst) }
    },
  },
  cells: {
    width: 3,
    save(state: BucketState, cells: Float64Array, at: number): void {
      cells[at] = state.zero
      cells[at + 1] = state.rest
      cells[at + 2] = state.seen
    },
    load(sample: BucketState, cells: Float64Array, at: number, into: BucketState): void {
      into.zero = cells[at] as number
      into.rest = cells[at + 1] as number
      into.seen = cells[at + 2] as number
      into.keepFor = sample.keepFor
      into.plan = sample.plan
    },
    samePlan: (one: BucketState, other: BucketState) => one.keepFor === other.keepFor && samePlan(one.plan, other.plan),
    planNumbers: ({ keepFor, plan }: BucketState) => [keepFor, plan.n, plan.m, plan.burst],
  },
})

function decide(
  plan: BucketPlan,
  state: BucketState | undefined,
  now: Micros,
  cost: MicroTokens,
  _phase: number,
  into: Step<BucketState> = tokenBucketKernel.step(),
): Step<BucketState> {
  // As `filled` and `spanOf`, without allocating objects: every request comes here.
  const time = state !== undefined && state.seen > now ? state.seen : now
  let zero = time - plan.emptyBefore.micros
  let { rest } = plan.emptyBefore
  let keepFor = 0
  if (state !== undefined) {
    if (state.zero > zero || (state.zero === zero && state.rest > rest)) {
      zero = state.zero
      rest = state.rest
      keepFor = state.keepFor
    } else if (state.keepFor > 0) keepFor = time < state.seen + state.keepFor ? state.keepFor : 0
  }
  const tokens = cost === MICRO ? 1 : Math.floor(cost / MICRO)
  const parts = cost - tokens * MICRO
  let movedZero = zero + tokens * plan.perToken.micros + parts * plan.perMicro.micros
  let movedRest = rest + tokens * plan.perToken.rest + parts * plan.perMicro.rest
  if (movedRest >= plan.n) {
    const carry = Math.floor(movedRest / plan.n)
    movedZero += carry
    movedRest -= carry * plan.n
  }
  if (cost > plan.burst || movedZero > time || (movedZero === time && movedRest > 0)) {
    const possible = cost <= plan.burst
    into.outcome = possible ? 'denied' : 'impossible'
    // Counted from `now`. If `now` is before `seen`, waiting starts earlier and lasts longer.
    into.retryAfter = possible ? movedZero - now + (movedRest > 0 ? 1 : 0) : 0
    into.state = state
    fillView(plan, zero, rest, time, now, into)
    return into
  }
  const { next } = into
  next.zero = movedZero
  next.rest = movedRest
  next.seen = time
  next.keepFor = keepFor
  next.plan = plan
  into.outcome = 'allowed'
  into.retryAfter = 0
  into.state = next
  fillView(plan, movedZero, movedRest, time, now, into)
  return into
}

/**
 * Moves `zero` back for a refund, forward for a penalty. A penalty goes to at most one burst below empty, unless a change of the limit left
 * the bucket lower. A charge older than the bucket's time to fill is refilled already, so its refund gives nothing back.
 */
function adjust(
  plan: BucketPlan,
  state: BucketState | undefined,
  now: Micros,
  amount: MicroTokens,
  _phase: number,
  receipt?: Micros,
): BucketState | undefined {
  const time = timeOf(state, now)
  if (amount > 0 && receipt !== undefined && receipt <= time - plan.emptyBefore.micros) return state
  const { keepFor, ...before } = filled(plan, state, time)
  const span = spanOf(plan, Math.min(Math.abs(amount), 2 * plan.burst))
  const sign = amount < 0 ? 1 : -1
  let moved = normal(plan, before.zero + sign * span.micros, before.rest + sign * span.rest)
  if (amount < 0) {
    const lowest = bounded(plan, { zero: time + plan.full.micros, rest: plan.full.rest }, time)
    const deepest = isLater(before, lowest) ? before : lowest
    if (isLater(moved, deepest)) moved = deepest
  }
  const next = { ...moved, seen: time, keepFor, plan }
  return tokenBucketKernel.expiresAt(plan, next) <= time ? undefined : next
}

/** The time of a decision: earlier than what the state has seen is not believed (law 3). */
export function timeOf(state: BucketState | undefined, now: Micros): Micros {
  return state === undefined ? now : Math.max(now, state.seen)
}

/** `zero` at `time`: never further back than that of a full bucket. */
function filled(plan: BucketPlan, state: BucketState | undefined, time: Micros): { zero: Micros; rest: number; keepFor: Micros } {
  const { rest } = plan.emptyBefore
  const zero = time - plan.emptyBefore.micros
  if (state === undefined) return { zero, rest, keepFor: 0 }
  if (isLater(state, { zero, rest })) return { zero: state.zero, rest: state.rest, keepFor: state.keepFor }
  return { zero, rest, keepFor: state.keepFor > 0 && time < state.seen + state.keepFor ? state.keepFor : 0 }
}

/** What is left at `time`. Waits count from `now`. */
function fillView(plan: BucketPlan, zero: Micros, rest: number, time: Micros, now: Micros, into: View): View {
  const remaining = affordable(plan, plan.perToken, zero, rest, time)
  const full = after(plan, plan.full, zero, rest, 1)
  into.remaining = remaining
  into.resetAfter = full > time ? full - now : 0
  into.replenishAfter = (remaining + 1) * MICRO > plan.burst ? into.resetAfter : after(plan, plan.perToken, zero, rest, remaining + 1) - now
  return into
}

/**
 * The tokens that the old plan would have left, capped at the new burst, as a `zero` of the new plan. Rounded up by less than an n-th of a
 * microsecond (law 7). A debt carries over in full, even if it exceeds the new burst.
 */
function adopt(plan: BucketPlan, state: BucketState, now: Micros): BucketState | undefined {
  const old = state.plan
  if (samePlan(old, plan)) return state
  const time = timeOf(state, now)
  if (tokenBucketKernel.expiresAt(old, state) <= time) return undefined
  const [n, m, burst] = [BigInt(plan.n), BigInt(plan.m), BigInt(plan.burst)]
  // How long the new plan takes to refill it, in n-ths of a microsecond.
  const level = floorDiv(levelAt(old, filled(old, state, time), time) * m, BigInt(old.m))
  const parts = level < burst * m ? level : burst * m
  const back = -floorDiv(-parts, n)
  const moved = { zero: time - Number(back), rest: Number(back * n - parts) }
  return { ...bounded(plan, moved, time), seen: time, keepFor: Math.max(state.keepFor, old.emptyBefore.micros), plan }
}

/** The debt is refilled within a hundred years, and the instant at which the bucket is full is still a safe integer. */
function bounded({ full }: BucketPlan, moved: Zero, time: Micros): Zero {
  const latest = { zero: Math.min(time + MAX_MICROS, Number.MAX_SAFE_INTEGER - full.micros - 1), rest: 0 }
  return isLater(moved, latest) ? latest : moved
}

function describe(rate: Rate): string {
  return typeof rate === 'string' ? rate : `${rate.tokens} per ${rate.per}${typeof rate.per === 'number' ? ' ms' : ''}`
}
