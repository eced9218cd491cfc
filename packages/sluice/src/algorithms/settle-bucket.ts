import type { Micros } from '../time/micros.ts'
import type { Algorithm, HeldCharge, Settled } from './algorithm.ts'
import { type BucketPlan, floorDiv, isLater, levelAt, type Zero } from './bucket-plan.ts'

/** What the settlement of a hold reads and writes of a bucket. */
interface Level extends Zero {
  readonly seen: Micros
  readonly leases?: unknown
}

type Kernel<S> = Pick<Algorithm<BucketPlan, S>, 'adjust' | 'expiresAt'>

/**
 * Settles a hold of a bucket. What was charged too little is taken now, to at most one burst below empty.
 *
 * What was charged too much is given back as far as the bucket still had room for it. With `mark` as the instant at which the bucket was
 * empty after the hold's own charge, the bucket held at most (t - mark) at each later instant t, so at least burst - (t - mark) of the
 * hold found room until t. For t the present is taken, or the instant at which the bucket is empty now if that is later: calls charged
 * ahead of their tokens start by then. So whoever settles, no more than the limit starts over any interval that contains the charge of
 * each hold that it counts. Refunds of several holds that overlap can add up: G over an interval is at most what was given back in it for
 * holds that were charged before it.
 */
export function settleBucket<S extends Level>(
  kernel: Kernel<S>,
  plan: BucketPlan,
  state: S | undefined,
  now: Micros,
  { held, actual, mark }: HeldCharge,
): Settled<S> {
  const time = state === undefined ? now : Math.max(now, state.seen)
  const full = { zero: time - plan.emptyBefore.micros, rest: plan.emptyBefore.rest }
  const bucket: Zero = state !== undefined && isLater(state, full) ? state : full
  const [n, m, burst] = [BigInt(plan.n), BigInt(plan.m), BigInt(plan.burst)]
  if (actual > held) {
    const room = floorDiv(levelAt(plan, bucket, time) + burst * m, m)
    const more = room <= 0n ? 0 : Math.min(actual - held, Number(room))
    return { state: more === 0 ? state : kernel.adjust(plan, state, now, -more, 0), charged: held + more }
  }
  const present = { zero: time, rest: 0 }
  const { zero, rest } = isLater(bucket, present) ? bucket : present
  // In n-ths of a microsecond, in which a micro-token takes m.
  const room = burst * m - (BigInt(zero - mark) * n + BigInt(rest))
  const back = BigInt(held - actual) * m
  if (room <= 0n || back === 0n) return { state, charged: actual }
  if (back <= room) return { state: kernel.adjust(plan, state, now, held - actual, 0), charged: actual }
  return { state: movedBack(kernel, plan, state, now, bucket, room), charged: actual }
}

/** The bucket with a part of a token more: `parts` n-ths of a microsecond. */
function movedBack<S extends Level>(
  { adjust, expiresAt }: Kernel<S>,
  plan: BucketPlan,
  state: S | undefined,
  now: Micros,
  { zero, rest }: Zero,
  parts: bigint,
): S | undefined {
  const whole = adjust(plan, state, now, Number(parts / BigInt(plan.m)), 0)
  // Leased tokens cap the bucket.
  if (whole === undefined || whole.leases !== undefined) return whole
  const n = BigInt(plan.n)
  const at = BigInt(zero) * n + BigInt(rest) - parts
  const exact = floorDiv(at, n)
  const moved = { ...whole, zero: Number(exact), rest: Number(at - exact * n) }
  return expiresAt(plan, moved) <= Math.max(now, whole.seen) ? undefined : moved
}
