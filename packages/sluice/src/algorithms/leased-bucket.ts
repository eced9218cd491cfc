import type { Micros } from '../time/micros.ts'
import type { Algorithm, AnyLimit, CallOutcome, MicroTokens, View } from './algorithm.ts'
import { after, type BucketPlan, levelAt, normal, planOf, samePlan, spanOf } from './bucket-plan.ts'
import { kernel } from './compiled.ts'
import { MICRO } from './decimal.ts'
import { settleBucket } from './settle-bucket.ts'
import { type BucketState, keptUntil, timeOf, tokenBucketKernel } from './token-bucket.ts'

/** Tokens out of the bucket, which a holder may spend until the lease ends. */
export interface Lease {
  /** A whole number below 2^53 that no other holder has. */
  readonly holder: number
  /** Of the holder's last applied request. Requests with this number or a lower one are ignored. */
  readonly sequence: number
  readonly amount: MicroTokens
  /** Store time from which the tokens may not be spent. */
  readonly until: Micros
}

type Leases = readonly Lease[]

/** `leases` is in the order of their ends, and absent if there are none. */
export interface LeasedState extends BucketState {
  readonly leases?: readonly Lease[]
}

/** A holder's request, and its report on the tokens that it got before. */
export interface LeaseArguments {
  /** The least amount that the holder can use, above 0. */
  readonly cost: MicroTokens
  /** The most that the holder requests. Below `cost`, the request grants nothing and only reports. */
  readonly want: MicroTokens
  readonly holder: number
  /** Each request of a holder has a greater number. */
  readonly sequence: number
  /** Microseconds from now for which the holder may spend its tokens. */
  readonly life: Micros
  /** How many of its previous tokens the holder keeps. */
  readonly kept: MicroTokens
  /** How many previous tokens come back unspent. Those neither kept nor returned were spent. */
  readonly returned: MicroTokens
}

/** What any caller has left, if no lease is given back early. */
interface LeaseView extends View {
  /** The outcome of an ordinary call of the same cost. It may be `allowed` although this holder was granted nothing. */
  readonly outcome: CallOutcome
  readonly retryAfter: Micros
}

export interface LeaseGrant extends LeaseView {
  readonly granted: MicroTokens
  readonly state: LeasedState | undefined
}

/** The most holders with leases of one bucket; bounds the state. */
export const MAX_HOLDERS = 64

/**
 * Settles a holder's previous lease, and grants or renews one. The tokens in the bucket and the leased tokens never exceed the burst
 * together, so no interval admits more than burst + rate * length. Tokens of an ended lease, of a lost reply, or returned by a lost
 * request count as spent.
 * @param state of this plan
 */
export function grantLease(plan: BucketPlan, state: LeasedState | undefined, now: Micros, request: LeaseArguments): LeaseGrant {
  const time = timeOf(state, now)
  const before = state && settled(state, now)
  const leases = before?.leases ?? []
  const own = leases.find(({ holder }) => holder === request.holder)
  if (own !== undefined && request.sequence <= own.sequence) return { ...viewOf(plan, state, now, request.cost), granted: 0, state }
  const had = own?.amount ?? 0
  const kept = Math.min(request.kept, had)
  const returned = Math.min(request.returned, had - kept)
  const others = own === undefined ? leases : leases.filter((lease) => lease !== own)
  const until = Math.max(own?.until ?? 0, time + request.life)
  const holding = (amount: MicroTokens): Leases =>
    amount === 0 ? others : inOrder(others, { holder: request.holder, sequence: request.sequence, amount, until })
  const bucket = before === undefined || own === undefined ? before : withReturned(before, time, returned, holding(kept))
  const full = own === undefined && others.length >= MAX_HOLDERS
  const level = full || request.want < request.cost ? 0 : levelOf(plan, bucket, time)
  const granted = level < request.cost ? 0 : Math.min(request.want, level)
  if (granted === 0) return { ...viewOf(plan, bucket, now, request.cost), granted, state: bucket }
  const charged = tokenBucketKernel.decide(plan, bucket, now, granted, 0).next
  const next = withLeases(charged, holding(kept + granted))
  return { ...viewOf(plan, next, now, request.cost), outcome: 'allowed', retryAfter: 0, granted, state: next }
}

/** Fills the bucket to burst - leased. */
export function resetLeased(state: LeasedState, now: Micros): LeasedState | undefined {
  const before = settled(state, now)
  return before.leases === undefined ? undefined : filled(state.plan, before, timeOf(state, now))
}

/** Each decision drops ended leases, and caps the bucket at the burst less the leased tokens. A higher cost waits until leases end. */
export const leasedBucketKernel: Algorithm<BucketPlan, LeasedState> = kernel<BucketPlan, LeasedState>({
  ...tokenBucketKernel,
  decide(plan, state, now, cost, phase, into = tokenBucketKernel.step()) {
    const before = state && settled(state, now)
    // A call charged ahead starts when its cost is refilled. Leased tokens may be spent at the same instant. Both together must not exceed
    // the burst.
    const isTight = plan.ahead > 0 && cost > plan.burst - outOn(before?.leases)
    const own = isTight ? planOf(plan.n, plan.m, plan.burst) : plan
    const step = tokenBucketKernel.decide(own, before, now, cost, phase, into)
    const allowed = step.outcome === 'allowed'
    const next = allowed ? withLeases(step.next, before?.leases) : before
    into.state = allowed ? next : state
    if (before?.leases === undefined) return into
    const { retryAfter } = into
    Object.assign(into, viewOf(own, next, now, allowed ? undefined : cost, plan.ahead))
    if (allowed) into.retryAfter = retryAfter
    return into
  },
  leave(plan, state, now, cost, charged) {
    const before = state && settled(state, now)
    const left = tokenBucketKernel.leave?.(plan, before, now, cost, charged)
    if (state === undefined || left === before) return state
    if (before?.leases === undefined) return left
    const time = timeOf(state, now)
    return left === undefined ? filled(plan, before, time) : capped(left, time, before.leases)
  },
  adopt(plan, state, now, phase) {
    if (samePlan(state.plan, plan)) return state
    const before = settled(state, now)
    const adopted = tokenBucketKernel.adopt(plan, before, now, phase)
    return adopted === undefined || before.leases === undefined ? adopted : capped(adopted, adopted.seen, before.leases)
  },
  adjust(plan, state, now, amount, phase, receipt) {
    if (state?.leases === undefined) return tokenBucketKernel.adjust(plan, state, now, amount, phase, receipt)
    const before = settled(state, now)
    const adjusted = tokenBucketKernel.adjust(plan, before, now, amount, phase, receipt)
    if (adjusted === before) return state
    if (before.leases === undefined) return adjusted
    const time = timeOf(state, now)
    return adjusted === undefined ? filled(plan, before, time) : capped(adjusted, time, before.leases)
  },
  settle: (plan, state, now, hold) => settleBucket(leasedBucketKernel, plan, state === undefined ? state : settled(state, now), now, hold),
  view(plan, state, now) {
    const { remaining, replenishAfter, resetAfter } = viewOf(plan, state, now)
    return { remaining, replenishAfter, resetAfter }
  },
  expiresAt(plan, state) {
    return Math.max(fitsAt(plan, state, plan.burst), keptUntil(state))
  },
  codec: {
    ...tokenBucketKernel.codec,
    encodeState: (state) => [
      ...tokenBucketKernel.codec.encodeState(state),
      ...(state.leases ?? []).flatMap(({ holder, sequence, amount, until }) => [holder, sequence, amount, until]),
    ],
    decodeState(numbers, plan) {
      const leases: Lease[] = []
      for (let at = WIDTH; at < numbers.length; at += 4) {
        const [holder = 0, sequence = 0, amount = 0, until = 0] = numbers.slice(at, at + 4)
        leases.push({ holder, sequence, amount, until })
      }
      return withLeases(tokenBucketKernel.codec.decodeState(numbers, plan), leases)
    },
  },
  // The number of leases varies, and so the state's size.
  cells: 'log' as const,
})

/** Numbers of a state without leases. */
const WIDTH = 7

/** Lets the states of a token bucket have leases. Other limits are returned unchanged. */
export function leasing(limit: AnyLimit): AnyLimit {
  return limit.algorithm === tokenBucketKernel ? { ...limit, algorithm: leasedBucketKernel } : limit
}

function outOn(leases: Leases | undefined): MicroTokens {
  return leases === undefined ? 0 : leases.reduce((sum, { amount }) => sum + amount, 0)
}

/** Without leases that have ended. Until each lease ended, the bucket held at most the burst less the tokens leased then. */
function settled(state: LeasedState, now: Micros): LeasedState {
  const { leases } = state
  if (leases === undefined) return state
  const time = timeOf(state, now)
  let out = outOn(leases)
  let ended = 0
  let bucket: BucketState = state
  for (let lease = leases[0]; lease !== undefined && lease.until <= time; lease = leases[ended]) {
    bucket = cut(bucket, lease.until, out)
    out -= lease.amount
    ended += 1
  }
  return withLeases(ended === leases.length ? bucket : cut(bucket, time, out), leases.slice(ended))
}

function withLeases({ zero, rest, seen, keepFor, plan }: BucketState, leases: Leases | undefined): LeasedState {
  if (leases === undefined || leases.length === 0) return { zero, rest, seen, keepFor, plan }
  return { zero, rest, seen, keepFor, plan, leases }
}

function inOrder(leases: Leases, added: Lease): Leases {
  const at = leases.findIndex(({ until }) => until > added.until)
  return at === -1 ? [...leases, added] : [...leases.slice(0, at), added, ...leases.slice(at)]
}

/** Caps the bucket at `time` to its burst less `out`, the leased tokens. */
function cut(bucket: BucketState, time: Micros, out: MicroTokens): BucketState {
  const { plan } = bucket
  const span = spanOf(plan, Math.max(0, plan.burst - out))
  const zero = time - span.micros - (span.rest === 0 ? 0 : 1)
  const rest = span.rest === 0 ? 0 : plan.n - span.rest
  return bucket.zero > zero || (bucket.zero === zero && bucket.rest >= rest) ? bucket : { ...bucket, zero, rest }
}

function capped(bucket: BucketState, time: Micros, leases: Leases): LeasedState {
  return withLeases(cut(bucket, time, outOn(leases)), leases)
}

function filled(plan: BucketPlan, { keepFor, leases = [] }: LeasedState, time: Micros): LeasedState {
  return capped({ zero: time - plan.full.micros - 1, rest: 0, seen: time, keepFor, plan }, time, leases)
}

function withReturned(bucket: BucketState, time: Micros, returned: MicroTokens, leases: Leases): LeasedState {
  const { zero, rest, seen, plan } = bucket
  const span = spanOf(plan, returned)
  const moved = normal(plan, zero - span.micros, rest - span.rest)
  return capped({ ...bucket, ...moved, seen: Math.max(seen, time) }, time, leases)
}

function levelOf(plan: BucketPlan, bucket: BucketState | undefined, time: Micros): MicroTokens {
  if (bucket === undefined) return plan.burst
  return Number(levelAt(plan, cut({ ...bucket, plan }, time, 0), time) / BigInt(plan.m))
}

/**
 * Assumes that no lease is given back early.
 * @param ahead microseconds by which the call could be charged before its tokens are refilled
 */
function viewOf(plan: BucketPlan, state: LeasedState | undefined, now: Micros, cost?: MicroTokens, ahead: Micros = 0): LeaseView {
  const before = state && settled(state, now)
  const { remaining, ...view } = tokenBucketKernel.view(plan, before, now, 0)
  const step = cost === undefined ? undefined : tokenBucketKernel.decide(plan, before, now, cost, 0)
  const { outcome = 'allowed', retryAfter = 0 } = step ?? {}
  if (before?.leases === undefined) return { outcome, retryAfter, remaining, ...view }
  const resetAfter = fitsAt(plan, before, plan.burst) - now
  const more = (remaining + 1) * MICRO
  return {
    outcome,
    retryAfter: outcome === 'denied' ? Math.max(fitsAt(plan, before, cost ?? 0) - ahead, roomAt(plan, before, cost ?? 0)) - now : 0,
    remaining,
    replenishAfter: more > plan.burst ? resetAfter : fitsAt(plan, before, more) - now,
    resetAfter,
  }
}

/** When enough leases have ended that the bucket could hold `micro`; 0 if it could already. */
function roomAt({ burst }: BucketPlan, { leases = [] }: LeasedState, micro: MicroTokens): Micros {
  let out = outOn(leases)
  let at = 0
  for (const { amount, until } of leases) {
    if (micro <= burst - out) break
    at = until
    out -= amount
  }
  return at
}

/** When the bucket has this much, if every lease lasts to its end. */
function fitsAt(plan: BucketPlan, state: LeasedState, micro: MicroTokens): Micros {
  let bucket: BucketState = state
  let out = outOn(state.leases)
  for (const { amount, until } of state.leases ?? []) {
    if (micro <= plan.burst - out) break
    bucket = cut(bucket, until, out)
    out -= amount
  }
  const span = spanOf(plan, micro)
  return after(plan, span, bucket.zero, bucket.rest, 1)
}
