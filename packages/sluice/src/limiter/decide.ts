import type { AnyLimit } from '../algorithms/algorithm.ts'
import type { Decision, Degraded, LimitView } from '../decision/decision.ts'
import { MICROS_PER_MS, toMillis } from '../time/micros.ts'
import type { Time } from '../time/time.ts'
import type { RuleResult } from '../observe/events.ts'
import { type GroupVerdict, StoreFailure, type Verdict } from '../stores/store.ts'

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
  const { calls, source } = verdict
  const at = Math.floor((Number.isNaN(verdict.at) ? clock.now() : verdict.at) / MICROS_PER_MS)
  const limits: LimitView[] = []
  for (let index = 0; index < calls.length; index += 1) limits.push(viewOf(calls[index] as Verdict, named[index] as NamedLimit))
  if (verdict.outcome === 'undecided')
    return { outcome: 'undecided', allowed: verdict.allowed, limits, at, source, degraded: degradedBy(verdict.degraded) }
  const decision = decided(verdict, limits, named, at)
  return verdict.degraded === undefined ? decision : { ...decision, degraded: degradedBy(verdict.degraded) }
}

function decided(
  { outcome, calls, source, reason }: GroupVerdict,
  limits: LimitView[],
  named: readonly NamedLimit[],
  at: number,
): Decision {
  switch (outcome) {
    case 'denied': {
      const worst = latest(calls)
      const call = calls[worst] as Verdict
      return {
        outcome,
        allowed: false,
        limitName: (named[worst] as NamedLimit).name,
        reason: call.blocked ? 'blocked' : (reason ?? 'quota'),
        retryAfterMs: toMillis(call.retryAfter),
        limits,
        at,
        source,
      }
    }
    case 'impossible': {
      const first = calls.findIndex((call) => call.outcome === 'impossible')
      return { outcome, allowed: false, limitName: (named[first] as NamedLimit).name, reason: 'capacity', limits, at, source }
    }
    default:
      return { outcome: 'allowed', allowed: true, limits, at, source }
  }
}

/** The same by limit, for observers. */
export function resultsOf(verdict: GroupVerdict, named: readonly NamedLimit[]): RuleResult[] {
  return named.map(({ name }, index) => ({ rule: name, result: verdict.calls[index]?.outcome ?? verdict.outcome }))
}

/** What a store's failure looks like where nothing stands in for it: undecided and refused. */
export function refusedBy(error: unknown): GroupVerdict {
  if (!(error instanceof StoreFailure)) throw error
  return { outcome: 'undecided', allowed: false, at: Number.NaN, calls: [], source: 'store', degraded: error }
}

function viewOf(call: Verdict, { name, limit, windowMs }: NamedLimit): LimitView {
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
  calls.forEach((call, index) => {
    if (call.outcome === 'denied' && (worst === -1 || call.retryAfter > (calls[worst] as Verdict).retryAfter)) worst = index
  })
  return worst
}

function degradedBy(failure: StoreFailure | undefined): Degraded {
  if (failure === undefined) return { kind: 'protocol', executed: 'unknown', message: 'the store gave no answer and no reason' }
  return { kind: failure.kind, executed: failure.executed, message: failure.message }
}
