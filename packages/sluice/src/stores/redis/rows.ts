import type { AlgorithmTag, AnyLimit, MicroTokens } from '../../algorithms/algorithm.ts'
import { type BucketPlan, spanOf } from '../../algorithms/bucket-plan.ts'
import { type FixedWindowPlan, shiftOf } from '../../algorithms/fixed-window-plan.ts'
import { fixedWindowKernel } from '../../algorithms/fixed-window.ts'
import { type CounterPlan, slidingWindowCounterKernel } from '../../algorithms/sliding-window-counter.ts'
import type { LogPlan } from '../../algorithms/sliding-window-log.ts'
import { noProgram } from '../no-program.ts'

/**
 * The numbers of one limit, cost and phase for a program (lua/*.lua document them); the index of its kernel comes first.
 * @throws LimiterError INVALID_OPTIONS for an algorithm without a program
 */
export function rowOf(limit: AnyLimit, cost: MicroTokens, phase: number): readonly number[] {
  const { tag } = limit.algorithm
  if (Object.hasOwn(ROWS, tag)) return ROWS[tag](limit.plan as never, cost, phase)
  throw noProgram('redisStore', limit, ROWS)
}

const ROWS: Readonly<Record<AlgorithmTag, (plan: never, cost: MicroTokens, phase: number) => readonly number[]>> = {
  tb(plan: BucketPlan, cost: MicroTokens) {
    const { n, m, burst, emptyBefore } = plan
    const most = mostOf(plan, cost)
    if (isSmall(plan)) return [0, n, m, burst, most]
    const span = spanOf(plan, most)
    return [4, n, m, burst, emptyBefore.micros, emptyBefore.rest, span.micros, span.rest]
  },
  fw(plan: FixedWindowPlan, cost: MicroTokens, phase: number) {
    const shift = plan.align === 'key' ? shiftOf(plan.window, phase) : 0
    return [1, cost, ...fixedWindowKernel.codec.encodePlan(plan), shift]
  },
  sc: (plan: CounterPlan, cost: MicroTokens) => [2, cost, ...slidingWindowCounterKernel.codec.encodePlan(plan)],
  sl: ({ limit, window, most }: LogPlan, cost: MicroTokens) => [3, cost, limit, window, most],
}

/** Whether a program can multiply the numbers of a plan exactly. */
export function isSmall({ m, burst }: BucketPlan): boolean {
  return 2 * burst * m < Number.MAX_SAFE_INTEGER
}

/** Caps a cost above what fits, or what may be taken at all: its exact value does not matter, and numbers stay exact integers. */
export function mostOf({ burst }: BucketPlan, cost: MicroTokens): MicroTokens {
  return Math.min(cost, 2 * burst)
}
