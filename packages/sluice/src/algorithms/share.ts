import type { AlgorithmTag, AnyLimit } from './algorithm.ts'
import { inexact, planOf, reduced } from './bucket-plan.ts'
import { quantumOf } from './counter-weight.ts'
import { fromMicroTokens, MICRO } from './decimal.ts'

/** Computes the plan of an n-th part; undefined if whole numbers cannot represent it. Each plan comes from the tag's own algorithm. */
// oxlint-disable-next-line typescript/no-explicit-any -- as above
const PARTS: Readonly<Record<AlgorithmTag, (plan: any, parts: number) => { plan: object; capacity: number } | undefined>> = {
  tb({ n, m, burst }, parts) {
    const capacity = Math.floor(burst / parts)
    if (!Number.isSafeInteger(m * parts * MICRO)) return undefined
    const plan = planOf(...reduced(n, m * parts), capacity)
    return inexact(plan) === undefined ? { plan, capacity } : undefined
  },
  fw(plan, parts) {
    const limit = Math.floor(plan.limit / parts)
    const [n, m] = plan.ramp === 0 ? [0, 1] : reduced(limit, plan.ramp)
    return Number.isSafeInteger(limit * m) ? { plan: { ...plan, limit, n, m }, capacity: limit } : undefined
  },
  sc(plan, parts) {
    const limit = Math.floor(plan.limit / parts)
    const quantum = quantumOf(limit, plan.window)
    return typeof quantum === 'string' ? undefined : { plan: { ...plan, limit, quantum, quanta: plan.window / quantum }, capacity: limit }
  },
  sl(plan, parts) {
    const limit = Math.floor(plan.limit / parts)
    return { plan: { ...plan, limit, most: Math.ceil(limit / MICRO) }, capacity: limit }
  },
}

/**
 * An equal part of a limit. Processes that have one of `parts` parts each together admit no more than the limit, exactly. The remainder of
 * the division is not granted. States of the limit or of another part carry over (law 7). Returns undefined if whole numbers cannot
 * represent the part, or if the part is 0.
 * @param parts a whole number above 0
 */
export function shareOf(limit: AnyLimit, parts: number): AnyLimit | undefined {
  if (parts === 1) return limit
  const part = PARTS[limit.algorithm.tag](limit.plan, parts)
  if (part === undefined || part.capacity === 0) return undefined
  return Object.freeze({ ...limit, plan: Object.freeze(part.plan), capacity: fromMicroTokens(part.capacity) })
}
