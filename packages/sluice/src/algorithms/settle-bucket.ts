import type { Micros } from '../time/micros.ts'
import type { Algorithm, HeldCharge, Settled } from './algorithm.ts'
import { type BucketPlan, floorDiv, isLater, levelAt, type Zero } from './bucket-plan.ts'

/** What `settleBucket` reads and writes of the state of a bucket. */
interface Level extends Zero {
  readonly seen: Micros
  readonly leases?: unknown
}

type Kernel<S> = Pick<Algorithm<BucketPlan, S>, 'adjust' | 'expiresAt'>

/**
 * Settles a hold of a bucket: a call that was charged before it was known what it would use. If it used more than it was charged, the
 * difference is charged now, down to one burst below empty.
 *
 * If it used less, the difference is given back, as far as the bucket had room for it all the time since the charge. `mark` is the `zero`
 * of the bucket right after the hold was charged: the instant at which the bucket is empty. So at a later instant t the bucket had at most
 * the tokens that are refilled in t - mark. It had room for the burst less these tokens. As t the function takes the present, or the
 * bucket's `zero` if that is later, because calls that were charged ahead of their tokens may start as late as `zero`.
 *
 * If an interval contains the charges of all holds that are settled in it, the calls that start in it take no more than the limit admits.
 * In other intervals, refunds of several overlapping holds can add up. The over-grant (tokens admitted beyond the limit) is then at most
 * what was given back in the interval for holds charged before it.
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
  // `room` and `back` are refill times in n-ths of a microsecond. One micro-token takes m of these to refill.
  const room = burst * m - (BigInt(zero - mark) * n + BigInt(rest))
  const back = BigInt(held - actual) * m
  if (room <= 0n || back === 0n) return { state, charged: actual }
  if (back <= room) return { state: kernel.adjust(plan, state, now, held - actual, 0), charged: actual }
  return { state: movedBack(kernel, plan, state, now, bucket, room), charged: actual }
}

/** Gives tokens back to the bucket, including a part of a micro-token. `parts` is their refill time, in n-ths of a microsecond (n of the plan). */
function movedBack<S extends Level>(
  { adjust, expiresAt }: Kernel<S>,
  plan: BucketPlan,
  state: S | undefined,
  now: Micros,
  { zero, rest }: Zero,
  parts: bigint,
): S | undefined {
  const whole = adjust(plan, state, now, Number(parts / BigInt(plan.m)), 0)
  // If processes have leased tokens of the bucket, `adjust` has capped it at the burst less these tokens. A part of a micro-token more
  // could exceed that cap, so only whole micro-tokens are given back.
  if (whole === undefined || whole.leases !== undefined) return whole
  const n = BigInt(plan.n)
  const at = BigInt(zero) * n + BigInt(rest) - parts
  const exact = floorDiv(at, n)
  const moved = { ...whole, zero: Number(exact), rest: Number(at - exact * n) }
  return expiresAt(plan, moved) <= Math.max(now, whole.seen) ? undefined : moved
}
