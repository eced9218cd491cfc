import type { AnyLimit } from '../algorithms/algorithm.ts'
import type { Decision, Degraded, LimitView } from '../decision/decision.ts'
import { MICROS_PER_MS, type Micros, toMillis } from '../time/micros.ts'
import type { Time } from '../time/time.ts'
import type { RuleResult } from '../observe/events.ts'
import type { GroupVerdict, StoreFailure, Verdict } from '../stores/store.ts'

export interface NamedLimit {
  readonly name: string
  readonly limit: AnyLimit
  /** The window in milliseconds that the policy states, instead of the limit's own. */
  readonly windowMs?: number
}

/**
 * Makes one decision from a store's verdict. Precedence: undecided, impossible, denied, allowed. `limitName` is the limit with the longest
 * wait.
 * @param clock this process's clock, read if the store did not report its own time
 */
export function decisionOf(verdict: GroupVerdict, named: readonly NamedLimit[], clock: Pick<Time, 'now'>): Decision {
  const { outcome, calls, source, degraded, nodes } = verdict
  const atMicros = verdict.at >= 0 ? verdict.at : clock.now()
  const at = Math.floor(atMicros / MICROS_PER_MS)
  const [first] = calls
  // Most limiters have one limit, and an array literal need not grow.
  const limits =
    first !== undefined && calls.length === 1
      ? [viewOf(first, named[0] as NamedLimit)]
      : calls.map((call, index) => viewOf(call, named[index] as NamedLimit))
  if (outcome === 'undecided')
    return { outcome, allowed: verdict.allowed, limits, at, atMicros, source, degraded: degradedBy(degraded, nodes) }
  const decision: Decision =
    outcome === 'allowed' ? { outcome, allowed: true, limits, at, atMicros, source } : refusal(verdict, limits, named, at, atMicros)
  return degraded === undefined ? decision : { ...decision, degraded: degradedBy(degraded, nodes) }
}

function refusal(
  { outcome, calls, source, reason, retryAfter }: GroupVerdict,
  views: LimitView[],
  named: readonly NamedLimit[],
  at: number,
  atMicros: Micros,
): Decision {
  const worst = outcome === 'denied' ? latest(calls) : calls.findIndex((call) => call.outcome === 'impossible')
  const limitName = (named[worst] as NamedLimit).name
  if (outcome !== 'denied')
    return { outcome: 'impossible', allowed: false, limitName, reason: 'capacity', limits: views, at, atMicros, source }
  const blocked = calls.some(isBlocked)
  // A blocked limit reports 0 remaining, because a caller cannot use what is left. Other limits report what they have.
  const limits = blocked ? views.map((view, index) => (isBlocked(calls[index] as Verdict) ? { ...view, remaining: 0 } : view)) : views
  const why = blocked ? 'blocked' : (reason ?? 'quota')
  // Two literals instead of a spread: a flood is denied here, and spreading takes three times as long.
  if (retryAfter === undefined) return { outcome, allowed: false, limitName, reason: why, limits, at, atMicros, source }
  return { outcome, allowed: false, limitName, reason: why, retryAfterMs: toMillis(retryAfter), limits, at, atMicros, source }
}

function isBlocked({ blocked }: Verdict): boolean {
  return blocked === true
}

/** The results by limit, for observers. */
export function resultsOf(verdict: GroupVerdict, named: readonly NamedLimit[]): RuleResult[] {
  return named.map(({ name }, index) => ({ rule: name, result: verdict.calls[index]?.outcome ?? verdict.outcome }))
}

/** Converts one call's verdict to the view that decisions report. */
export function viewOf(call: Verdict, { name, limit, windowMs }: NamedLimit): LimitView {
  return {
    name,
    limit: limit.capacity,
    remaining: call.remaining,
    replenishAfterMs: toMillis(call.outcome === 'denied' ? call.retryAfter : call.replenishAfter),
    resetAfterMs: toMillis(call.resetAfter),
    windowMs: windowMs ?? limit.windowMs,
  }
}

function latest(calls: readonly Verdict[]): number {
  let worst = -1
  let latestRetry = -1
  for (let index = 0; index < calls.length; index += 1) {
    const { outcome, retryAfter } = calls[index] as Verdict
    if (outcome !== 'denied' || retryAfter <= latestRetry) continue
    worst = index
    latestRetry = retryAfter
  }
  return worst
}

function degradedBy(failure: StoreFailure | undefined, nodes: number | undefined): Degraded {
  const shared = nodes === undefined ? {} : { nodes }
  if (failure === undefined) return { kind: 'protocol', executed: 'unknown', message: 'the store gave no answer and no reason', ...shared }
  return { kind: failure.kind, executed: failure.executed, message: failure.message, ...shared }
}
