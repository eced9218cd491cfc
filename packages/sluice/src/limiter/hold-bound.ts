import type { AnyLimit } from '../algorithms/algorithm.ts'
import { concurrency, MAX_HOLDERS } from '../algorithms/concurrency.ts'
import { MICRO } from '../algorithms/decimal.ts'
import { type Form, within } from '../errors/options.ts'
import { scopeOf } from '../keys/encode.ts'
import type { Call, Decided, Scope, Store } from '../stores/store.ts'
import { requireChange, requireDecidable } from './decidable.ts'

/** Names the bound in decisions and in the ids of its states. */
export const MAX_HOLDS = 'maxHolds'

const IN_RANGE = within(1, MAX_HOLDERS)
/** The default duration that a concurrency limit requires. It has no effect, because every hold passes its own duration. */
const HOLD_MS = 60_000
/** The form of `maxHolds`. Each call reads the ids of all open holds of its key, so the maximum is that of slots of a concurrency limit. */
export const MAX_HOLDS_FORM: Form = [(value) => Number.isSafeInteger(value) && IN_RANGE[0](value), `a whole number, ${IN_RANGE[1]}`]

/**
 * Bounds how many holds of a key are open at once. It is a concurrency limit: each hold takes a slot, and gives it back when the hold is
 * settled. A hold that nobody settles counts until it ends. The limits that a decision lists do not contain this one.
 */
export interface HoldBound {
  readonly scope: Scope
  readonly limit: AnyLimit
  /** The one key whose holds are not bounded; absent if there is no such key. */
  readonly free?: string
}

/**
 * Makes a bound on how many holds of a key may be open at once.
 * @param limiter the name of the limiter whose holds are counted; each limiter has a bound of its own
 * @throws LimiterError NOT_SUPPORTED for a store without concurrency limits, or without settlements
 */
export function holdBound(where: string, store: Store, limiter: string, maxHolds: number): HoldBound {
  const limit = concurrency({ limit: maxHolds, holdMs: HOLD_MS })
  requireDecidable(where, store, limit)
  requireChange(where, store, 'settle')
  return { scope: scopeOf(limiter, MAX_HOLDS, limit.algorithm.tag), limit }
}

/** The call that counts a new hold of the key against the bound. Empty if the holds of the key are not bounded. */
export function openHold(bound: HoldBound | undefined, key: string): readonly Call[] {
  if (bound === undefined || key === bound.free) return []
  const { scope, limit } = bound
  return [{ id: { scope, key }, limit, cost: MICRO, phase: 0 }]
}

/**
 * Whether a group was denied because too many holds of a key are open. False if a limit of the group is blocked, or if another limit has a
 * longer wait.
 */
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
