import type { Decision, Outcome } from '../decision/decision.ts'

/** The result of one rule or limit. A shadow rule reports `allowed` or `shadow_denied`, or `undecided` if its store failed. */
export interface RuleResult {
  readonly rule: string
  readonly result: Outcome | 'shadow_denied'
  /** Set if the rule is in shadow: it refuses nothing, whatever its result. */
  readonly shadow?: true
}

/** One decision, after it was made. It contains no identity, only what may become a metric. */
export interface DecisionEvent {
  /** Name of the limiter; for an engine, of the policy's rule set. */
  readonly limiter: string
  /** The route, if the caller knows it: a pattern, never a concrete path. */
  readonly route?: string
  readonly decision: Decision
  /** Name of the store that was called. */
  readonly store: string
  /** By rule of the policy, or by limit of the limiter. */
  readonly results: readonly RuleResult[]
  readonly durationMs: number
}

/**
 * One call of a store by a limiter or an engine, after it returned. What a ring decides without its store, what it sends of its own (leases,
 * probes) and decisions of the local fallback are not included.
 */
export interface StoreEvent {
  readonly store: string
  readonly operation: 'decide' | 'peek' | 'change' | 'ready'
  readonly durationMs: number
  /** Kind of the StoreFailure, if it failed. */
  readonly failure?: string
}

/** What a rule charged a key in one decision, after it was made. */
export interface ChargeEvent {
  readonly rule: string
  /** A pseudonym of the key: the store's if the policy requires pseudonyms, otherwise a keyed hash. */
  readonly key: string
  /** Whether the rule let it pass; a shadow rule reports what it would have decided. */
  readonly allowed: boolean
}

/** A subscriber, called synchronously. It must be quick. Errors that it throws are dropped, so it never affects decisions. */
export interface Observer {
  onDecision?(event: DecisionEvent): void
  onStoreCall?(event: StoreEvent): void
  /** Called by an engine for every rule that has a key. If no observer implements it, keys are not hashed. */
  onCharge?(event: ChargeEvent): void
}

/** Reports an event to every observer, even if another one throws. */
export function notify<Verb extends keyof Observer>(
  observers: readonly Observer[],
  verb: Verb,
  event: Parameters<Required<Observer>[Verb]>[0],
): void {
  for (const observer of observers) {
    try {
      ;(observer[verb] as ((event: unknown) => void) | undefined)?.call(observer, event)
    } catch {
      // An observer's failure must not become the request's.
    }
  }
}
