import type { AnyLimit } from '../algorithms/algorithm.ts'
import { concurrency, MAX_HOLDERS } from '../algorithms/concurrency.ts'
import { MICRO } from '../algorithms/decimal.ts'
import { type Form, within } from '../errors/options.ts'
import { scopeOf } from '../keys/encode.ts'
import type { Call, Decided, Scope, Store } from '../stores/store.ts'
import { requireChange, requireDecidable } from './decidable.ts'

/** Names the bound in decisions and state ids. */
export const MAX_HOLDS = 'maxHolds'

const IN_RANGE = within(1, MAX_HOLDERS)
/** Has no effect: every hold passes its own duration. */
const HOLD_MS = 60_000
/** The maximum is that of a concurrency limit, because each call reads the ids of all open holds of its key. */
export const MAX_HOLDS_FORM: Form = [(value) => Number.isSafeInteger(value) && IN_RANGE[0](value), `a whole number, ${IN_RANGE[1]}`]

/**
 * Bounds the open holds of a key by a concurrency limit: each hold takes a slot until it is settled or ends. Decisions do not list this
 * limit.
 */
export interface HoldBound {
  readonly scope: Scope
  readonly limit: AnyLimit
  /** The one key whose holds are not bounded. */
  readonly free?: string
}

/** @throws LimiterError NOT_SUPPORTED for a store without concurrency limits or settlements */
export function holdBound(where: string, store: Store, limiter: string, maxHolds: number): HoldBound {
  const limit = concurrency({ limit: maxHolds, holdMs: HOLD_MS })
  requireDecidable(where, store, limit)
  requireChange(where, store, 'settle')
  return { scope: scopeOf(limiter, MAX_HOLDS, limit.algorithm.tag), limit }
}

/** The call that counts a new hold; empty if unbounded. */
export function openHold(bound: HoldBound | undefined, key: string): readonly Call[] {
  if (bound === undefined || key === bound.free) return []
  const { scope, limit } = bound
  return [{ id: { scope, key }, limit, cost: MICRO, phase: 0 }]
}

/** False if a limit is blocked, or has a longer wait than the bound. */
export function isFull(
  bound: HoldBound,
  calls: readonly Call[],
  { outcome, calls: verdicts }: Pick<Decided, 'outcome' | 'calls'>,
): boolean {
  if (outcome !== 'denied' || verdicts.some(({ blockedFor }) => blockedFor !== undefined)) return false
  const denied = verdicts.flatMap((verdict, index) =>
    verdict.outcome === 'denied' ? [{ wait: verdict.retryAfter, isBound: calls[index]?.id.scope === bound.scope }] : [],
  )
  const longest = Math.max(...denied.map(({ wait }) => wait))
  return denied.some(({ wait, isBound }) => isBound && wait === longest)
}
