import type { AnyLimit } from '../algorithms/algorithm.ts'
import { concurrency, MAX_HOLDERS } from '../algorithms/concurrency.ts'
import { MICRO } from '../algorithms/decimal.ts'
import { type Form, within } from '../errors/options.ts'
import { scopeOf } from '../keys/encode.ts'
import type { Call, Decided, Scope } from '../stores/store.ts'

/** Names the bound in decisions and in the ids of its states. */
export const MAX_HOLDS = 'maxHolds'

const IN_RANGE = within(1, MAX_HOLDERS)
/** Not used: every hold says how long it is. */
const HOLD_MS = 60_000
/** Each call reads the ids of all open holds of its key, so there are not more of them than of slots. */
export const MAX_HOLDS_FORM: Form = [(value) => Number.isSafeInteger(value) && IN_RANGE[0](value), `a whole number, ${IN_RANGE[1]}`]

/**
 * Bounds how many holds of a key are open at once. It is a concurrency limit that is charged with each hold and given back with its
 * settlement, so a hold that nobody settles counts until its end, and no longer. The views of a decision do not contain it.
 */
export interface HoldBound {
  readonly scope: Scope
  readonly limit: AnyLimit
}

/** @param limiter its name: the bound is its own */
export function holdBound(limiter: string, maxHolds: number): HoldBound {
  const limit = concurrency({ limit: maxHolds, holdMs: HOLD_MS })
  return { scope: scopeOf(limiter, MAX_HOLDS, limit.algorithm.tag), limit }
}

/** The call that counts a hold of the key. */
export function openHold({ scope, limit }: HoldBound, key: string): Call {
  return { id: { scope, key }, limit, cost: MICRO, phase: 0 }
}

/** Whether a group was denied because too many holds of a key are open, and not for something that takes longer. */
export function isFull(
  bound: HoldBound,
  calls: readonly Call[],
  { outcome, calls: verdicts }: Pick<Decided, 'outcome' | 'calls'>,
): boolean {
  if (outcome !== 'denied' || verdicts.some(({ blocked }) => blocked === true)) return false
  const denied = verdicts.flatMap((verdict, index) =>
    verdict.outcome === 'denied' ? [{ wait: verdict.retryAfter, isBound: calls[index]?.id.scope === bound.scope }] : [],
  )
  const longest = Math.max(...denied.map(({ wait }) => wait))
  return denied.some(({ wait, isBound }) => isBound && wait === longest)
}
