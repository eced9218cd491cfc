import type { AlgorithmTag, AnyLimit, MicroTokens } from '../../algorithms/algorithm.ts'
import { type BucketPlan, spanOf } from '../../algorithms/bucket-plan.ts'
import type { FixedWindowPlan } from '../../algorithms/fixed-window.ts'
import type { CounterPlan } from '../../algorithms/sliding-window-counter.ts'
import type { LogPlan } from '../../algorithms/sliding-window-log.ts'
import { LimiterError } from '../../errors/limiter-error.ts'

/**
 * One limit, cost and phase as a program's numbers (lua/*.lua say which), its kernel's place first.
 * @throws LimiterError INVALID_OPTIONS for an algorithm without a program
 */
export function rowOf({ algorithm, plan }: AnyLimit, cost: MicroTokens, phase: number): readonly number[] {
  const { name, tag } = algorithm
  if (Object.hasOwn(ROWS, tag)) return ROWS[tag](plan as never, cost, phase)
  throw new LimiterError(
    'INVALID_OPTIONS',
    `redisStore: cannot decide a limit of ${name} (${tag}), only of ${Object.keys(ROWS).join(', ')}`,
  )
}

const ALIGNS = { clock: 0, first: 1, key: 2 }

const ROWS: Readonly<Record<AlgorithmTag, (plan: never, cost: MicroTokens, phase: number) => readonly number[]>> = {
  tb(plan: BucketPlan, cost: MicroTokens) {
    const { n, m, burst, emptyBefore } = plan
    const most = mostOf(plan, cost)
    if (isSmall(plan)) return [0, n, m, burst, most]
    const span = spanOf(plan, most)
    return [4, n, m, burst, emptyBefore.micros, emptyBefore.rest, span.micros, span.rest]
  },
  fw: ({ limit, window, align, ramp, n, m }: FixedWindowPlan, cost: MicroTokens, phase: number) => {
    return [1, cost, limit, window, ALIGNS[align], ramp, n, m, align === 'key' ? shiftOf(window, phase) : 0]
  },
  sc: ({ limit, window, quantum }: CounterPlan, cost: MicroTokens) => [2, cost, limit, window, quantum],
  sl: ({ limit, window, most }: LogPlan, cost: MicroTokens) => [3, cost, limit, window, most],
}

/** Where a key's windows begin: floor(phase * window / 2^32), as the kernel has it. */
function shiftOf(window: number, phase: number): number {
  return Number((BigInt(phase) * BigInt(window)) >> 32n)
}

/** Whether a program can multiply by itself what a plan consists of. */
export function isSmall({ m, burst }: BucketPlan): boolean {
  return 2 * burst * m < Number.MAX_SAFE_INTEGER
}

/** What is more than fits, or than may be taken at all, need not be told exactly: numbers stay whole. */
export function mostOf({ burst }: BucketPlan, cost: MicroTokens): MicroTokens {
  return Math.min(cost, 2 * burst)
}
