import type { Micros } from '../time/micros.ts'
import type { Algorithm, AnyLimit, CallOutcome, MicroTokens, Step, View } from './algorithm.ts'
import { affordable, after, type BucketPlan, spanOf } from './bucket-plan.ts'
import { MICRO } from './decimal.ts'
import { type BucketState, tokenBucketKernel } from './token-bucket.ts'

/** Tokens that a holder has in hand: they have left the bucket and may be spent until the lease ends. */
export interface Lease {
  /** A whole number below 2^53 that no other holder has. */
  readonly holder: number
  /** Of the last request that was heard; an older one is not. */
  readonly sequence: number
  readonly amount: MicroTokens
  /** First instant of store time at which nothing of it may be spent any more. */
  readonly until: Micros
}

/** A bucket and what is out on lease, the lease that ends first at the front; absent where nothing is. */
export interface LeasedState extends BucketState {
  readonly leases?: readonly Lease[]
}

/** What a holder asks for, and what became of what it had. */
export interface LeaseAsk {
  /** Least amount that is of use to it; above 0. */
  readonly cost: MicroTokens
  /** Most that it asks for; less than `cost` asks for nothing, and only settles. */
  readonly want: MicroTokens
  readonly holder: number
  /** Rises from request to request of a holder. */
  readonly sequence: number
  /** How long all that it then has may be spent. */
  readonly life: Micros
  /** Of what it had before: still in hand. */
  readonly kept: MicroTokens
  /** Of what it had before: given back unspent. What is neither kept nor returned was spent. */
  readonly returned: MicroTokens
}

/** Waits and views are those of every caller of the bucket, and hold if no lease comes back early. */
export interface LeaseGrant extends View {
  readonly granted: MicroTokens
  /** With nothing granted: why not; `allowed` where the tokens are there and this holder gets none of them. */
  readonly outcome: CallOutcome
  readonly retryAfter: Micros
  readonly state: LeasedState | undefined
}

/** Holders of one bucket at once: a state stays small. */
export const MAX_HOLDERS = 64

/**
 * Grants, renews and settles a lease. Tokens in the bucket and tokens out on lease are never more than the burst, so whenever before
 * its end a holder spends what it has, no interval admits more than burst + rate * length. Nothing is given back by time: an end that
 * passes means spent, and so does a request or an answer that was lost.
 * @param state in the plan's unit
 */
export function grantLease(plan: BucketPlan, state: LeasedState | undefined, now: Micros, ask: LeaseAsk): LeaseGrant {
  const time = state === undefined ? now : Math.max(now, state.seen)
  const before = state === undefined ? undefined : settled(state, time)
  const leases = before?.leases ?? []
  const own = leases.find(({ holder }) => holder === ask.holder)
  if (own !== undefined && ask.sequence <= own.sequence) return { ...look(plan, state, now, ask.cost), granted: 0, state }
  const had = own?.amount ?? 0
  const kept = Math.min(ask.kept, had)
  const returned = Math.min(ask.returned, had - kept)
  const others = own === undefined ? leases : leases.filter((lease) => lease !== own)
  const until = Math.max(own?.until ?? 0, time + ask.life)
  const holding = (amount: MicroTokens): readonly Lease[] =>
    amount === 0 ? others : inOrder(others, { holder: ask.holder, sequence: ask.sequence, amount, until })
  const bucket = before === undefined || own === undefined ? before : given(plan, before, time, returned, holding(kept))
  const full = own === undefined && others.length >= MAX_HOLDERS
  const level = full || ask.want < ask.cost ? 0 : levelOf(plan, bucket, time)
  const granted = level < ask.cost ? 0 : Math.min(ask.want, level)
  if (granted === 0) return { ...look(plan, bucket, now, ask.cost), granted, state: bucket }
  const charged = tokenBucketKernel.decide(plan, bucket, now, granted, 0).next
  const next = withLeases(charged, holding(kept + granted))
  return { ...look(plan, next, now, ask.cost), outcome: 'allowed', retryAfter: 0, granted, state: next }
}

/** A reset: the bucket is as full as what is out on lease allows. */
export function resetLeased(state: LeasedState, now: Micros): LeasedState | undefined {
  const time = Math.max(now, state.seen)
  const { leases, hold } = settled(state, time)
  if (leases === undefined) return undefined
  const { plan } = state
  const nothing = { zero: time - plan.full.micros - 1, rest: 0, seen: time, hold, plan }
  return withLeases(cut(nothing, time, outOn(leases)), leases)
}

/**
 * The token bucket's kernel for states that may have leases; without any it is the kernel. Each decision first lets ended leases go,
 * then cuts the bucket to burst - leased, and leaves the rest to the kernel: only waits are computed anew, since a cost above
 * burst - leased must wait until leases end.
 */
export const leasedBucketKernel: Algorithm<BucketPlan, LeasedState> = Object.freeze({
  ...tokenBucketKernel,
  step: (): Step<LeasedState> => tokenBucketKernel.step(),
  decide(
    plan: BucketPlan,
    state: LeasedState | undefined,
    now: Micros,
    cost: MicroTokens,
    phase: number,
    into: Step<LeasedState> = tokenBucketKernel.step(),
  ): Step<LeasedState> {
    const before = state === undefined ? undefined : settled(state, Math.max(now, state.seen))
    const step = tokenBucketKernel.decide(plan, before, now, cost, phase, into)
    const allowed = step.outcome === 'allowed'
    const next = allowed ? withLeases(step.next, before?.leases) : before
    into.state = allowed ? next : state
    return before?.leases === undefined ? into : Object.assign(into, look(plan, next, now, allowed ? undefined : cost))
  },
  adopt(plan: BucketPlan, state: LeasedState, now: Micros, phase: number): LeasedState | undefined {
    const old = state.plan
    if (old === plan || (old.n === plan.n && old.m === plan.m && old.burst === plan.burst)) return state
    const before = settled(state, Math.max(now, state.seen))
    const adopted = tokenBucketKernel.adopt(plan, before, now, phase)
    return adopted === undefined || before.leases === undefined
      ? adopted
      : withLeases(cut(adopted, adopted.seen, outOn(before.leases)), before.leases)
  },
  adjust(
    plan: BucketPlan,
    state: LeasedState | undefined,
    now: Micros,
    amount: MicroTokens,
    phase: number,
    receipt?: Micros,
  ): LeasedState | undefined {
    if (state?.leases === undefined) return tokenBucketKernel.adjust(plan, state, now, amount, phase, receipt)
    const time = Math.max(now, state.seen)
    const before = settled(state, time)
    const adjusted = tokenBucketKernel.adjust(plan, before, now, amount, phase, receipt)
    if (adjusted === before) return state
    if (before.leases === undefined) return adjusted
    const filled = adjusted ?? { ...before, zero: time - plan.full.micros - 1, rest: 0, seen: time }
    return withLeases(cut(filled, time, outOn(before.leases)), before.leases)
  },
  view(plan: BucketPlan, state: LeasedState | undefined, now: Micros): View {
    const { remaining, replenishAfter, resetAfter } = look(plan, state, now)
    return { remaining, replenishAfter, resetAfter }
  },
  expiresAt(plan: BucketPlan, state: LeasedState): Micros {
    return Math.max(fitsAt(plan, state, plan.burst), state.seen + state.hold)
  },
  codec: {
    ...tokenBucketKernel.codec,
    encodeState: (state: LeasedState) => [
      ...tokenBucketKernel.codec.encodeState(state),
      ...(state.leases ?? []).flatMap(({ holder, sequence, amount, until }) => [holder, sequence, amount, until]),
    ],
    decodeState(numbers: readonly number[]): LeasedState {
      const leases: Lease[] = []
      for (let at = WIDTH; at < numbers.length; at += 4) {
        const [holder = 0, sequence = 0, amount = 0, until = 0] = numbers.slice(at, at + 4)
        leases.push({ holder, sequence, amount, until })
      }
      return withLeases(tokenBucketKernel.codec.decodeState(numbers), leases)
    },
  },
  // Of no fixed width: no table of numbers keeps it.
  cells: 'log' as const,
})

/** Numbers of a state without leases. */
const WIDTH = 7

/** The limit for stores whose states may have leases; limits of other algorithms as they are. */
export function leasing(limit: AnyLimit): AnyLimit {
  return limit.algorithm === tokenBucketKernel ? { ...limit, algorithm: leasedBucketKernel } : limit
}

function outOn(leases: readonly Lease[] | undefined): MicroTokens {
  return leases === undefined ? 0 : leases.reduce((sum, { amount }) => sum + amount, 0)
}

/** The state at `time`: each ended lease is let go at its end, and the bucket was cut to burst - leased until then. */
function settled(state: LeasedState, time: Micros): LeasedState {
  const { leases } = state
  if (leases === undefined) return state
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

function withLeases({ zero, rest, seen, hold, plan }: BucketState, leases: readonly Lease[] | undefined): LeasedState {
  return leases === undefined || leases.length === 0 ? { zero, rest, seen, hold, plan } : { zero, rest, seen, hold, plan, leases }
}

/** Behind those that end no later. */
function inOrder(leases: readonly Lease[], added: Lease): readonly Lease[] {
  const at = leases.findIndex(({ until }) => until > added.until)
  return at === -1 ? [...leases, added] : [...leases.slice(0, at), added, ...leases.slice(at)]
}

/** The bucket with no more in it at `time` than its burst less what is out. */
function cut(bucket: BucketState, time: Micros, out: MicroTokens): BucketState {
  const { plan } = bucket
  const span = spanOf(plan, Math.max(0, plan.burst - out))
  const zero = time - span.micros - (span.rest === 0 ? 0 : 1)
  const rest = span.rest === 0 ? 0 : plan.n - span.rest
  return bucket.zero > zero || (bucket.zero === zero && bucket.rest >= rest) ? bucket : { ...bucket, zero, rest }
}

/** The bucket with what came back, and the leases as they are from now on. */
function given(
  plan: BucketPlan,
  { zero, rest, seen, hold }: BucketState,
  time: Micros,
  returned: MicroTokens,
  leases: readonly Lease[],
): LeasedState {
  const span = spanOf(plan, returned)
  const sum = rest - span.rest
  const borrow = sum < 0 ? 1 : 0
  const bucket = { zero: zero - span.micros - borrow, rest: sum + borrow * plan.n, seen: Math.max(seen, time), hold, plan }
  return withLeases(cut(bucket, time, outOn(leases)), leases)
}

/** Whole micro-tokens in the bucket. */
function levelOf(plan: BucketPlan, bucket: BucketState | undefined, time: Micros): MicroTokens {
  if (bucket === undefined) return plan.burst
  const { zero, rest } = cut({ ...bucket, plan }, time, 0)
  const tokens = affordable(plan, plan.perToken, zero, rest, time)
  const moved = rest + tokens * plan.perToken.rest
  const carry = Math.floor(moved / plan.n)
  return tokens * MICRO + affordable(plan, plan.perMicro, zero + tokens * plan.perToken.micros + carry, moved - carry * plan.n, time)
}

/** As the kernel's view and, with a cost, its wait; counted from `now`, and right if no lease comes back early. */
function look(
  plan: BucketPlan,
  state: LeasedState | undefined,
  now: Micros,
  cost?: MicroTokens,
): View & { outcome: CallOutcome; retryAfter: Micros } {
  const time = state === undefined ? now : Math.max(now, state.seen)
  const before = state === undefined ? undefined : settled(state, time)
  const { remaining, ...view } = tokenBucketKernel.view(plan, before, now, 0)
  const { outcome, retryAfter } =
    cost === undefined ? { outcome: 'allowed' as const, retryAfter: 0 } : tokenBucketKernel.decide(plan, before, now, cost, 0)
  if (before?.leases === undefined) return { outcome, retryAfter, remaining, ...view }
  const resetAfter = fitsAt(plan, before, plan.burst) - now
  const more = (remaining + 1) * MICRO
  return {
    outcome,
    retryAfter: outcome === 'denied' ? fitsAt(plan, before, cost ?? 0) - now : 0,
    remaining,
    replenishAfter: more > plan.burst ? resetAfter : fitsAt(plan, before, more) - now,
    resetAfter,
  }
}

/** First instant at which so much is in the bucket, if every lease lasts to its end. */
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
