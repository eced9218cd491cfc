import { LimiterError } from '../errors/limiter-error.ts'
import { refuseUnknown } from '../errors/options.ts'
import { MAX_MICROS, type Micros } from '../time/micros.ts'
import type { Algorithm, AnyLimit, View } from './algorithm.ts'
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
import { compiled, emptyView, kernel, stepOf } from './compiled.ts'
import { MICRO, readTokens } from './decimal.ts'
import { parseRate, type Rate } from './rate.ts'
import { settleBucket } from './settle-bucket.ts'

/**
 * The bucket is empty at `zero`, in microseconds, plus `rest` n-ths of a microsecond, for the n of `plan`, which wrote the state. `seen`:
 * the latest time of a write; no decision uses an earlier time (law 3). `keepFor`: the longest time that an earlier plan needs to fill a
 * bucket. The state is kept that long, so that two alternating policies create no tokens (law 7).
 */
export interface BucketState {
  zero: Micros
  rest: number
  seen: Micros
  keepFor: Micros
  plan: BucketPlan
}

/** The most tokens whose micro-tokens are a safe integer. */
const MAX_BURST = Math.floor(Number.MAX_SAFE_INTEGER / MICRO)

/** Options of a token bucket. */
export interface TokenBucketOptions {
  /** Refill, such as `'10/s'`, `'100/min'` or `{ tokens: 10, per: '30s' }`. */
  readonly rate: Rate
  /** The most tokens that the bucket holds; at most six decimals. Below 1, calls need a lower `cost` than the default of 1. */
  readonly burst: number | string
}

/**
 * `burst` tokens at first, refilled continuously at `rate`. Every interval of length t admits at most burst + rate * t tokens, exactly (the
 * article Rate Limiting at Scale; Turner 1986).
 * @throws LimiterError INVALID_OPTIONS, INVALID_RATE, INVALID_BURST, or LIMIT_NOT_EXACT if whole numbers below 2^53 cannot represent the
 * limit
 */
export function tokenBucket(options: TokenBucketOptions): AnyLimit {
  refuseUnknown('tokenBucket', options, ['rate', 'burst'])
  const { micro, per } = parseRate(options.rate)
  const burst = readTokens('INVALID_BURST', options.burst, 'is not a burst', MAX_BURST)
  const plan = planOf(...reduced(micro, per), burst)
  const problem = inexact(plan)
  if (problem !== undefined) {
    throw new LimiterError('LIMIT_NOT_EXACT', `token bucket of rate ${describe(options.rate)} and burst ${options.burst}: ${problem}`)
  }
  return compiled(tokenBucketKernel, plan, burst, plan.emptyBefore.micros)
}

/** A placeholder until `decide` writes the plan of a state. */
const NOTHING: BucketPlan = planOf(1, 1, 1)

export const tokenBucketKernel: Algorithm<BucketPlan, BucketState> = kernel({
  name: 'token-bucket',
  tag: 'tb',
  step: () => stepOf<BucketState>({ zero: 0.5, rest: 0, seen: 0.5, keepFor: 0, plan: NOTHING }),
  decide(plan, state, now, cost, _phase, into = tokenBucketKernel.step()) {
    // `filled` and `spanOf` without allocating objects, because every request runs this code.
    const time = state !== undefined && state.seen > now ? state.seen : now
    let zero = time - plan.emptyBefore.micros
    let { rest } = plan.emptyBefore
    let keepFor = 0
    if (state !== undefined) {
      if (state.zero > zero || (state.zero === zero && state.rest > rest)) {
        zero = state.zero
        rest = state.rest
        keepFor = state.keepFor
      } else if (state.keepFor > 0) keepFor = time < keptUntil(state) ? state.keepFor : 0
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
    const latest = time + plan.ahead
    if (cost > plan.burst || movedZero > latest || (movedZero === latest && movedRest > 0)) {
      const possible = cost <= plan.burst
      into.outcome = possible ? 'denied' : 'impossible'
      // Counted from `now`, so the wait includes the time by which a clock stepped back.
      into.retryAfter = possible ? movedZero - plan.ahead - now + (movedRest > 0 ? 1 : 0) : 0
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
    into.retryAfter = plan.ahead === 0 ? 0 : Math.max(0, movedZero - now + (movedRest > 0 ? 1 : 0))
    into.state = next
    fillView(plan, movedZero, movedRest, time, now, into)
    return into
  },
  ahead: ({ n, m, burst }, most) => planOf(n, m, burst, most),
  /**
   * Gives back the cost of a call that will not start, less what was charged after it, as Go's x/time/rate does. The later charges are the
   * distance that `zero` has moved since. Nothing is given back after a change of the limit, or if a refund or reset moved `zero` back
   * beyond that of the charge. After its wait, the call is settled like a hold that used nothing.
   */
  leave(plan, state, now, cost, charged) {
    const time = timeOf(state, now)
    if (state === undefined || state.keepFor !== charged.keepFor || !samePlan(state.plan, plan) || !samePlan(charged.plan, plan))
      return state
    if (!isLater(charged, { zero: time, rest: 0 })) {
      const hold = { held: cost, actual: 0, at: charged.seen, mark: charged.zero }
      return settleBucket(tokenBucketKernel, plan, state, now, hold).state
    }
    if (isLater(charged, state)) return state
    const span = spanOf(plan, cost)
    const back = normal(plan, charged.zero + span.micros - state.zero, charged.rest + span.rest - state.rest)
    if (back.zero < 0 || (back.zero === 0 && back.rest === 0)) return state
    const next = { ...normal(plan, state.zero - back.zero, state.rest - back.rest), seen: time, keepFor: state.keepFor, plan }
    return tokenBucketKernel.expiresAt(plan, next) <= time ? undefined : next
  },
  /**
   * Converts the tokens left under the old plan, rounded down, so that none are created (law 7), and capped at the new burst. A debt
   * carries over in full, even if it exceeds the new burst.
   */
  adopt(plan, state, now) {
    const old = state.plan
    if (samePlan(old, plan)) return state
    const time = timeOf(state, now)
    if (tokenBucketKernel.expiresAt(old, state) <= time) return undefined
    const level = floorDiv(levelAt(old, filled(old, state, time), time) * BigInt(plan.m), BigInt(old.m))
    return bucketWith(plan, level, time, Math.max(state.keepFor, old.emptyBefore.micros))
  },
  /**
   * A penalty lowers the bucket to at most one burst below empty; if it is lower already, nothing changes. A refund of a charge that is
   * older than the bucket's fill time gives nothing, because those tokens are refilled.
   */
  adjust(plan, state, now, amount, _phase, receipt) {
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
  },
  settle: (plan, state, now, hold) => settleBucket(tokenBucketKernel, plan, state, now, hold),
  markOf: ({ zero }) => zero,
  view(plan, state, now) {
    const time = timeOf(state, now)
    const { zero, rest } = filled(plan, state, time)
    return fillView(plan, zero, rest, time, now, emptyView())
  },
  expiresAt(plan, state) {
    const fresh = after(plan, plan.full, state.zero, state.rest, 1)
    return state.keepFor > 0 ? Math.max(fresh, keptUntil(state)) : fresh
  },
  envelope: ({ n, m, burst }) => ({ n, m, burst }),
  codec: {
    encodePlan: (plan) => [plan.n, plan.m, plan.burst],
    encodeState: (s) => [s.zero, s.rest, s.seen, s.keepFor, s.plan.n, s.plan.m, s.plan.burst],
    decodeState([zero = 0, rest = 0, seen = 0, keepFor = 0, n = 1, m = 1, burst = 1], known) {
      const same = known?.n === n && known.m === m && known.burst === burst
      return { zero, rest, seen, keepFor, plan: same ? known : planOf(n, m, burst) }
    },
  },
  cells: {
    width: 3,
    save(state, cells, at) {
      cells[at] = state.zero
      cells[at + 1] = state.rest
      cells[at + 2] = state.seen
    },
    load(sample, cells, at, into) {
      into.zero = cells[at] as number
      into.rest = cells[at + 1] as number
      into.seen = cells[at + 2] as number
      into.keepFor = sample.keepFor
      into.plan = sample.plan
    },
    samePlan: (one, other) => one.keepFor === other.keepFor && samePlan(one.plan, other.plan),
    planNumbers: ({ keepFor, plan }) => [keepFor, plan.n, plan.m, plan.burst],
  },
})

/**
 * When the bucket would be full under every earlier limit of the key, so that its state need not be kept for them. A bucket in debt fills
 * from `zero` on, when the debt is paid.
 */
export function keptUntil({ zero, seen, keepFor }: BucketState): Micros {
  return Math.min(Math.max(seen, zero) + keepFor, Number.MAX_SAFE_INTEGER)
}

/** `now`, but never earlier than `seen` (law 3). */
export function timeOf(state: BucketState | undefined, now: Micros): Micros {
  return state === undefined ? now : Math.max(now, state.seen)
}

/**
 * The bucket that has `level` m-ths of a micro-token at `time` (for the `m` of the plan), capped at the burst. A level below 0 is a debt,
 * which may exceed the burst.
 */
export function bucketWith(plan: BucketPlan, level: bigint, time: Micros, keepFor: Micros): BucketState {
  const [n, full] = [BigInt(plan.n), BigInt(plan.burst) * BigInt(plan.m)]
  const parts = level < full ? level : full
  // The refill time of the level in whole microseconds; `parts` is in n-ths.
  const back = -floorDiv(-parts, n)
  return { ...bounded(plan, { zero: time - Number(back), rest: Number(back * n - parts) }, time), seen: time, keepFor, plan }
}

/**
 * The state's `zero` and `rest`, or those of a full bucket if they are later. `keepFor` is 0 if the bucket is full, also under every
 * earlier limit of the key (`keptUntil`).
 */
export function filled(plan: BucketPlan, state: BucketState | undefined, time: Micros): Omit<BucketState, 'seen' | 'plan'> {
  const { rest } = plan.emptyBefore
  const zero = time - plan.emptyBefore.micros
  if (state === undefined) return { zero, rest, keepFor: 0 }
  if (isLater(state, { zero, rest })) return { zero: state.zero, rest: state.rest, keepFor: state.keepFor }
  return { zero, rest, keepFor: state.keepFor > 0 && time < keptUntil(state) ? state.keepFor : 0 }
}

/** Waits are counted from `now`, which is before `time` if a clock stepped back. */
function fillView(plan: BucketPlan, zero: Micros, rest: number, time: Micros, now: Micros, into: View): View {
  const remaining = affordable(plan, plan.perToken, zero, rest, time)
  const full = after(plan, plan.full, zero, rest, 1)
  into.remaining = remaining
  into.resetAfter = full > time ? full - now : 0
  into.replenishAfter = (remaining + 1) * MICRO > plan.burst ? into.resetAfter : after(plan, plan.perToken, zero, rest, remaining + 1) - now
  return into
}

/** Caps a debt at a hundred years of refill, so that the instant of the full bucket is a safe integer. */
function bounded({ full }: BucketPlan, moved: Zero, time: Micros): Zero {
  const latest = { zero: Math.min(time + MAX_MICROS, Number.MAX_SAFE_INTEGER - full.micros - 1), rest: 0 }
  return isLater(moved, latest) ? latest : moved
}

function describe(rate: Rate): string {
  return typeof rate === 'string' ? rate : `${rate.tokens} per ${rate.per}${typeof rate.per === 'number' ? ' ms' : ''}`
}
