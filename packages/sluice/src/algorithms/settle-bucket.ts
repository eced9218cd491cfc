import type { Micros } from '../time/micros.ts'
import type { Algorithm, HeldCharge, Settled } from './algorithm.ts'
import { type BucketPlan, floorDiv, isLater, levelAt, type Zero } from './bucket-plan.ts'

interface Level extends Zero {
  readonly seen: Micros
  readonly leases?: unknown
}

type Kernel<S> = Pick<Algorithm<BucketPlan, S>, 'adjust' | 'expiresAt'>

/**
 * Settles a hold (a charge before the real use was known). Charges additional use now, down to one burst below empty. Gives unused tokens
 * back as far as the bucket had room for them all the time since the charge. docs/reservations.md gives the bound for several holds.
 *
 * The room is the burst less the tokens that are refilled after `mark`, the bucket's `zero` (when it is empty) right after the charge.
 * These count up to now, or up to the present `zero` if that is later, because calls that were charged ahead may start as late as then.
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
  // Refill times in n-ths of a microsecond. A micro-token takes m of these.
  const room = burst * m - (BigInt(zero - mark) * n + BigInt(rest))
  const back = BigInt(held - actual) * m
  if (room <= 0n || back === 0n) return { state, charged: actual }
  if (back <= room) return { state: kernel.adjust(plan, state, now, held - actual, 0), charged: actual }
  return { state: movedBack(kernel, plan, state, now, bucket, room), charged: actual }
}

/** Gives back tokens, even a fraction of a micro-token. `parts`: their refill time, in 1 / `plan.n` microseconds. */
function movedBack<S extends Level>(
  { adjust, expiresAt }: Kernel<S>,
  plan: BucketPlan,
  state: S | undefined,
  now: Micros,
  { zero, rest }: Zero,
  parts: bigint,
): S | undefined {
  const whole = adjust(plan, state, now, Number(parts / BigInt(plan.m)), 0)
  // With leases, `adjust` has capped the bucket at the burst less the leased tokens. A fraction more could exceed that cap.
  if (whole === undefined || whole.leases !== undefined) return whole
  const n = BigInt(plan.n)
  const at = BigInt(zero) * n + BigInt(rest) - parts
  const exact = floorDiv(at, n)
  const moved = { ...whole, zero: Number(exact), rest: Number(at - exact * n) }
  return expiresAt(plan, moved) <= Math.max(now, whole.seen) ? undefined : moved
}
