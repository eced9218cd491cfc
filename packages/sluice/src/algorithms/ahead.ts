import type { Micros } from '../time/micros.ts'
import type { AnyLimit } from './algorithm.ts'

/** The last limit that was made of each. Callers of one limit mostly wait equally long. */
const made = new WeakMap<AnyLimit, { readonly most: Micros; readonly limit: AnyLimit }>()

/** Whether calls of a limit can be charged before their tokens are there. */
export function canChargeAhead({ algorithm }: AnyLimit): boolean {
  return algorithm.ahead !== undefined
}

/** The limit with a plan that charges calls up to `most` before their tokens are there. It decides on the same states. */
export function chargedAhead(limit: AnyLimit, most: Micros): AnyLimit {
  const known = made.get(limit)
  if (known?.most === most) return known.limit
  const { algorithm, plan } = limit
  const ahead: AnyLimit = Object.freeze({ ...limit, plan: algorithm.ahead?.(plan, most) ?? plan })
  made.set(limit, { most, limit: ahead })
  return ahead
}
