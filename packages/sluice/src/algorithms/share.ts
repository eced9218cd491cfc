import type { AlgorithmTag, AnyLimit, MicroTokens } from './algorithm.ts'
import { inexact, planOf, reduced } from './bucket-plan.ts'
import { quantumOf } from './counter-weight.ts'
import { fromMicroTokens } from './decimal.ts'

type Fraction = readonly [units: number, of: number]

/** `plan` is a plan of the function's own algorithm. Undefined if whole numbers cannot represent the fraction. */
// oxlint-disable-next-line typescript/no-explicit-any -- as above
type PartOf = (plan: any, part: Fraction) => { plan: object; capacity: MicroTokens } | undefined

const PARTS: Readonly<Record<AlgorithmTag, PartOf>> = {
  tb({ n, m, burst }, [units, of]) {
    const capacity = portionOf(burst, units, of)
    if (capacity === 0 || !Number.isSafeInteger(n * units) || !Number.isSafeInteger(m * of)) return undefined
    const plan = planOf(...reduced(n * units, m * of), capacity)
    return inexact(plan) === undefined ? { plan, capacity } : undefined
  },
  fw(plan, [units, of]) {
    const limit = portionOf(plan.limit, units, of)
    const [n, m] = plan.ramp === 0 ? [0, 1] : reduced(limit, plan.ramp)
    return Number.isSafeInteger(limit * m) ? { plan: { ...plan, limit, n, m }, capacity: limit } : undefined
  },
  sc(plan, [units, of]) {
    const limit = portionOf(plan.limit, units, of)
    const quantum = quantumOf(limit, plan.window)
    if (typeof quantum === 'string') return undefined
    return { plan: { ...plan, limit, quantum, quanta: plan.window / quantum }, capacity: limit }
  },
  sl(plan, [units, of]) {
    const limit = portionOf(plan.limit, units, of)
    return { plan: { ...plan, limit, most: Math.ceil(fromMicroTokens(limit)) }, capacity: limit }
  },
  cc(plan, [units, of]) {
    const limit = portionOf(plan.limit, units, of)
    return { plan: { ...plan, limit }, capacity: limit }
  },
}

/** micro * units / of, rounded down. Exact even if the product exceeds 2^53. */
export function portionOf(micro: MicroTokens, units: number, of: number): MicroTokens {
  const product = micro * units
  return Number.isSafeInteger(product) ? Math.floor(product / of) : Number((BigInt(micro) * BigInt(units)) / BigInt(of))
}

/**
 * One of `parts` equal parts, rounded down, so that all parts together never exceed the limit. Undefined if the part is 0, or if whole
 * numbers cannot represent it.
 * @param parts a whole number above 0
 */
export function shareOf(limit: AnyLimit, parts: number): AnyLimit | undefined {
  return fractionOf(limit, 1, parts)
}

/**
 * `units` of `of` equal parts of a limit, otherwise as `shareOf`.
 * @param units a whole number above 0, at most `of`
 */
export function fractionOf(limit: AnyLimit, units: number, of: number): AnyLimit | undefined {
  if (units === of) return limit
  const partOf = (PARTS as Readonly<Partial<Record<string, PartOf>>>)[limit.algorithm.tag]
  // The limit of a hold record has no tokens to divide.
  if (partOf === undefined) return limit
  const part = partOf(limit.plan, [units, of])
  if (part === undefined || part.capacity === 0) return undefined
  return Object.freeze({ ...limit, plan: Object.freeze(part.plan), capacity: fromMicroTokens(part.capacity) })
}
