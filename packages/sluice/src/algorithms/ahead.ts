import type { Micros } from '../time/micros.ts'
import type { AnyLimit } from './algorithm.ts'

/** Most callers pass the same `most`. */
const made = new WeakMap<AnyLimit, { readonly most: Micros; readonly limit: AnyLimit }>()

export function canChargeAhead({ algorithm }: AnyLimit): boolean {
  return algorithm.ahead !== undefined
}

/** Charges calls up to `most` microseconds before their tokens are refilled. Limits that cannot are returned unchanged. */
export function chargedAhead(limit: AnyLimit, most: Micros): AnyLimit {
  const known = made.get(limit)
  if (known?.most === most) return known.limit
  const { algorithm, plan } = limit
  if (algorithm.ahead === undefined) return limit
  const ahead: AnyLimit = Object.freeze({ ...limit, ahead: true, plan: algorithm.ahead(plan, most) })
  made.set(limit, { most, limit: ahead })
  return ahead
}
