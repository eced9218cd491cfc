import type { Decision, Outcome } from '../decision/decision.ts'

/** What one rule or limit had to say. A rule in shadow says `allowed` or `shadow_denied`, or `undecided` where its store failed. */
export interface RuleResult {
  readonly rule: string
  readonly result: Outcome | 'shadow_denied'
  /** The rule is in shadow: whatever its result, it refuses nothing. */
  readonly shadow?: true
}

/** One decision, after it was made. No identity is in it: only what may become a metric. */
export interface DecisionEvent {
  /** Name of the limiter or, for an engine, of the policy's rule set. */
  readonly limiter: string
  /** The route where the caller knows it: a pattern, never a concrete path. */
  readonly route?: string
  readonly decision: Decision
  /** The store that was asked. */
  readonly store: string
  /** By rule of the policy, or by limit of the limiter. */
  readonly results: readonly RuleResult[]
  readonly durationMs: number
}

/** One call of a store, after it came back; what stands in for a store that fails is no part of it. */
export interface StoreEvent {
  readonly store: string
  readonly operation: 'consume' | 'peek' | 'reset' | 'adjust' | 'block' | 'lease' | 'ready'
  readonly durationMs: number
  /** Kind of the StoreFailure, where it failed. */
  readonly failure?: string
}

/** A rule's part in one decision about a key, after it was made. */
export interface ChargeEvent {
  readonly rule: string
  /** A pseudonym of the key: what stands in the store where the policy asks for pseudonyms, else a keyed hash. */
  readonly key: string
  /** Whether the rule did not refuse it; a rule in shadow says what it would have done. */
  readonly allowed: boolean
}

/** A subscriber. It is called synchronously and must be quick; what it throws is dropped: observing is never in the way. */
export interface Observer {
  onDecision?(event: DecisionEvent): void
  onStoreCall?(event: StoreEvent): void
  /** Of an engine, for every rule that has a key; where no observer asks for it, nothing is made of a key. */
  onCharge?(event: ChargeEvent): void
}

/** Calls every observer, whatever another of them does. */
export function notify(observers: readonly Observer[], event: DecisionEvent): void {
  for (const observer of observers) {
    try {
      observer.onDecision?.(event)
    } catch {
      // An observer's failure must not become the request's.
    }
  }
}

/** As `notify`, of a call of a store. */
export function notifyStoreCall(observers: readonly Observer[], event: StoreEvent): void {
  for (const observer of observers) {
    try {
      observer.onStoreCall?.(event)
    } catch {
      // As above.
    }
  }
}

/** As `notify`, of a rule's part in a decision. */
export function notifyCharge(observers: readonly Observer[], event: ChargeEvent): void {
  for (const observer of observers) {
    try {
      observer.onCharge?.(event)
    } catch {
      // As above.
    }
  }
}
