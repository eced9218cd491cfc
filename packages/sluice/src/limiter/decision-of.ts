import type { AnyLimit } from '../algorithms/algorithm.ts'
import type { Decision, LimitView } from '../decision/decision.ts'
import { MICROS_PER_MS, toMillis } from '../time/micros.ts'
import type { Time } from '../time/time.ts'
import type { RuleResult } from '../observe/events.ts'
import type { Call, Verdict } from '../stores/store.ts'
import { MAX_HOLDS } from './hold-bound.ts'
import { holdOf, takesSlots } from './holders.ts'
import { makesKey } from './new-key.ts'
import type { Answered, Resolved } from './on-failure.ts'

export interface NamedLimit {
  readonly name: string
  readonly limit: AnyLimit
  /** Milliseconds; decisions report it instead of the limit's own window. */
  readonly windowMs?: number
}

/**
 * `limitName` of a refusal: the limit with the longest wait, or `maxHolds` if too many reservations are open.
 * @param clock read only if no store decided
 */
export function decisionOf(resolved: Resolved, named: readonly NamedLimit[], clock: Pick<Time, 'now'>, holder?: string): Decision {
  const { outcome, calls, source = 'store', degraded } = resolved
  const atMicros = resolved.outcome === 'undecided' ? clock.now() : resolved.at
  const at = Math.floor(atMicros / MICROS_PER_MS)
  // An array literal is faster than `map`, and most limiters have one limit.
  const limits =
    calls?.length === 1
      ? [viewOf(calls[0] as Verdict, named[0] as NamedLimit)]
      : (calls?.map((call, index) => viewOf(call, named[index] as NamedLimit)) ?? [])
  const decision =
    outcome === 'allowed'
      ? { outcome, allowed: true, limits, at, atMicros, source }
      : outcome === 'undecided'
        ? { outcome, allowed: resolved.allowed, limits, at, atMicros, source }
        : refusal(resolved, limits, named, at)
  const hold = holder === undefined ? undefined : holdOf(holder, [resolved])
  if (hold !== undefined) Object.assign(decision, { hold })
  if (degraded === undefined) return decision as Decision
  const { kind, executed, message } = degraded
  const { nodes } = resolved
  return { ...decision, degraded: { kind, executed, message, ...(nodes === undefined ? {} : { nodes }) } } as Decision
}

function refusal(
  { outcome, at: atMicros, calls, source = 'store', reason, retryAfter }: Answered,
  views: LimitView[],
  named: readonly NamedLimit[],
  at: number,
): Decision {
  if (reason === 'holds') return { outcome: 'denied', allowed: false, limitName: MAX_HOLDS, reason, limits: views, at, atMicros, source }
  const index = latest(calls, outcome)
  const { name: limitName, limit } = named[index] as NamedLimit
  if (outcome !== 'denied')
    return { outcome: 'impossible', allowed: false, limitName, reason: 'capacity', limits: views, at, atMicros, source }
  const blocked = calls.some(isBlocked)
  // A caller cannot use what is left of a blocked limit.
  const limits = blocked ? views.map((view, nth) => (isBlocked(calls[nth] as Verdict) ? { ...view, remaining: 0 } : view)) : views
  // If the longest wait is for a slot, no wait is reported: a holder may give its slot back earlier.
  const slots = takesSlots(limit) && !isBlocked(calls[index] as Verdict)
  const why = blocked ? 'blocked' : (reason ?? (slots ? 'concurrency' : 'quota'))
  // A spread takes three times as long, and most denials under overload end here.
  if (retryAfter === undefined || slots) return { outcome, allowed: false, limitName, reason: why, limits, at, atMicros, source }
  return { outcome, allowed: false, limitName, reason: why, retryAfterMs: toMillis(retryAfter), limits, at, atMicros, source }
}

function isBlocked({ blockedFor }: Verdict): boolean {
  return blockedFor !== undefined
}

export function resultOf(rule: string, call: Call, resolved: Resolved, index: number): RuleResult {
  const { outcome, degraded } = resolved
  if (resolved.calls === undefined) return { rule, result: outcome, failure: resolved.degraded.kind }
  const verdict = resolved.calls[index] as Verdict
  const result = verdict.outcome === 'allowed' && outcome !== 'allowed' ? 'withheld' : verdict.outcome
  if (degraded !== undefined) return { rule, result, failure: degraded.kind }
  return result === 'allowed' && makesKey(call, verdict, resolved) ? { rule, result, newKey: true } : { rule, result }
}

export function viewOf(call: Verdict, { name, limit, windowMs }: NamedLimit): LimitView {
  const view = {
    name,
    limit: limit.capacity,
    remaining: call.remaining,
    replenishAfterMs: toMillis(call.outcome === 'denied' ? call.retryAfter : call.replenishAfter),
    resetAfterMs: toMillis(call.resetAfter),
    windowMs: windowMs ?? limit.windowMs,
  }
  return takesSlots(limit) ? { ...view, unit: 'concurrent-requests' } : view
}

/** Index of the call with this outcome and the longest wait. */
function latest(calls: readonly Verdict[], outcome: Verdict['outcome']): number {
  let worst = -1
  let longest = -1
  for (let index = 0; index < calls.length; index += 1) {
    const call = calls[index] as Verdict
    if (call.outcome !== outcome || call.retryAfter <= longest) continue
    worst = index
    longest = call.retryAfter
  }
  return worst
}
