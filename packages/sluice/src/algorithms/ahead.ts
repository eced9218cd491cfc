import type { Micros } from '../time/micros.ts'
import type { AnyLimit } from './algorithm.ts'

/** For each limit, the last limit that `chargedAhead` made from it, and its `most`. Cached because most callers pass the same `most`. */
const made = new WeakMap<AnyLimit, { readonly most: Micros; readonly limit: AnyLimit }>()

/** Whether calls of a limit can be charged before their tokens are there. */
export function canChargeAhead({ algorithm }: AnyLimit): boolean {
  return algorithm.ahead !== undefined
}

/**
 * Returns a limit that charges calls up to `most` microseconds before their tokens are refilled. It decides on the same states as the
 * original limit. A limit whose calls cannot be charged ahead is returned unchanged.
 */
export function chargedAhead(limit: AnyLimit, most: Micros): AnyLimit {
  const known = made.get(limit)
  if (known?.most === most) return known.limit
  const { algorithm, plan } = limit
  if (algorithm.ahead === undefined) return limit
  const ahead: AnyLimit = Object.freeze({ ...limit, ahead: true, plan: algorithm.ahead(plan, most) })
  made.set(limit, { most, limit: ahead })
  return ahead
}
