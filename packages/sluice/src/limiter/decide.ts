import type { AnyLimit } from '../algorithms/algorithm.ts'
import type { Decision, Degraded, LimitView } from '../decision/decision.ts'
import { type Micros, toMillis } from '../time/micros.ts'
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
 * @param now this process's time, used where the store could not say its own
 */
export function decisionOf(verdict: GroupVerdict, named: readonly NamedLimit[], now: Micros): Decision {
  const at = Math.floor((Number.isNaN(verdict.at) ? now : verdict.at) / 1_000)
  const limits = verdict.calls.map((call, index) => viewOf(call, named[index] as NamedLimit))
  const degraded = verdict.degraded === undefined ? {} : { degraded: degradedBy(verdict.degraded) }
  const base = { limits, at, source: verdict.source, ...degraded }
  switch (verdict.outcome) {
    case 'allowed':
      return { outcome: 'allowed', allowed: true, ...base }
    case 'denied': {
      const worst = latest(verdict.calls)
      return {
        outcome: 'denied',
        allowed: false,
        limitName: (named[worst] as NamedLimit).name,
        reason: 'quota',
        retryAfterMs: toMillis((verdict.calls[worst] as Verdict).retryAfter),
        ...base,
      }
    }
    case 'impossible': {
      const first = verdict.calls.findIndex((call) => call.outcome === 'impossible')
      return { outcome: 'impossible', allowed: false, limitName: (named[first] as NamedLimit).name, reason: 'capacity', ...base }
    }
    case 'undecided':
      return { outcome: 'undecided', allowed: verdict.allowed, ...base, degraded: degradedBy(verdict.degraded) }
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
