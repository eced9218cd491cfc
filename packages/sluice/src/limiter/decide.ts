import type { AnyLimit } from '../algorithms/algorithm.ts'
import type { Decision, Degraded, LimitView } from '../decision/decision.ts'
import { MICROS_PER_MS, type Micros, toMillis } from '../time/micros.ts'
import type { Time } from '../time/time.ts'
import type { RuleResult } from '../observe/events.ts'
import type { GroupVerdict, StoreFailure, Verdict } from '../stores/store.ts'

export interface NamedLimit {
  readonly name: string
  readonly limit: AnyLimit
  /** Overrides the limit's own window where a policy states one, in milliseconds. */
  readonly windowMs?: number
}

/**
 * One answer from a store's verdict. Precedence undecided, impossible, denied, allowed; the named limit is the one that
 * makes the caller wait longest.
 * @param clock this process's time, read where the store could not say its own
 */
export function decisionOf(verdict: GroupVerdict, named: readonly NamedLimit[], clock: Pick<Time, 'now'>): Decision {
  const { outcome, calls, source, degraded, nodes } = verdict
  const atMicros = verdict.at >= 0 ? verdict.at : clock.now()
  const at = Math.floor(atMicros / MICROS_PER_MS)
  const [first] = calls
  // Most limiters have one limit, and an array that is made whole need not grow.
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
  // What is left behind a block is of no use; other limits have what they have.
  const limits = blocked ? views.map((view, index) => (isBlocked(calls[index] as Verdict) ? { ...view, remaining: 0 } : view)) : views
  const why = blocked ? 'blocked' : (reason ?? 'quota')
  // Written twice: a flood is denied here, and an object that is spread together takes three times as long.
  if (retryAfter === undefined) return { outcome, allowed: false, limitName, reason: why, limits, at, atMicros, source }
  return { outcome, allowed: false, limitName, reason: why, retryAfterMs: toMillis(retryAfter), limits, at, atMicros, source }
}

function isBlocked({ blocked }: Verdict): boolean {
  return blocked === true
}

/** The same by limit, for observers. */
export function resultsOf(verdict: GroupVerdict, named: readonly NamedLimit[]): RuleResult[] {
  return named.map(({ name }, index) => ({ rule: name, result: verdict.calls[index]?.outcome ?? verdict.outcome }))
}

/** One call's verdict as people are told it. */
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
