import type { Decision, Outcome } from '../decision/decision.ts'

/**
 * The result of one rule or limit. `withheld`: this rule or limit would have let the request pass, but another one refused it, so this one
 * charged nothing. A shadow rule reports `allowed` or `shadow_denied`, or `undecided` if the store failed.
 */
export interface RuleResult {
  /** Name of the rule or limit. */
  readonly rule: string
  /** The rule's own result. The decision may differ: it is denied if one enforcing rule denied it. */
  readonly result: Outcome | 'withheld' | 'shadow_denied'
  /** Set if the rule is in shadow: it refuses nothing, whatever its result. */
  readonly shadow?: true
  /** Set if the charge made the key's state in the store: the key is new, or its state had expired. */
  readonly newKey?: true
  /** Kind of the StoreFailure, if the store did not decide this rule. */
  readonly failure?: string
}

/** One decision, after it was made. It contains no identity, only names and numbers that metrics may contain. */
export interface DecisionEvent {
  /** Name of the limiter; for an engine always `policy`. */
  readonly limiter: string
  /**
   * The route as a pattern, never as a concrete path: the route that the caller names, otherwise the most specific path pattern of the
   * matching rules. Absent if there is neither.
   */
  readonly route?: string | undefined
  /** The decision as the caller got it. */
  readonly decision: Decision
  /** Name of the store that was called. */
  readonly store: string
  /** One result for each rule that applies to the request, or for each limit of the limiter. */
  readonly results: readonly RuleResult[]
  /** Set if the request may not pass: the one rule or limit in whose metrics the refusal is counted. */
  readonly refusedBy?: string | undefined
  /**
   * Milliseconds from the call to the decision. If a store in this process decided and store calls are observed too, this is the duration
   * of the store call, because the clock is then read only once for both.
   */
  readonly durationMs: number
}

/**
 * One store call of a limiter or an engine, after it returned. A remote store is inside the ring (`remoteStore`: breaker, batches, caches).
 * Not included are decisions that the ring makes without the store, and calls that it makes by itself (leases, probes). Decisions of the
 * local fallback are not included either.
 */
export interface StoreEvent {
  /** Name of the store. */
  readonly store: string
  /** What was called. */
  readonly operation: 'decide' | 'peek' | 'change' | 'ready'
  /** Milliseconds from the call to its end. */
  readonly durationMs: number
  /** Kind of the StoreFailure, if it failed. */
  readonly failure?: string
  /** The message of the StoreFailure. */
  readonly reason?: string
}

/** One decision of a rule for a key, after it was made. */
export interface ChargeEvent {
  /** Name of the rule. */
  readonly rule: string
  /** A pseudonym of the key: the one in the state's id if the policy requires pseudonyms, otherwise a keyed hash. */
  readonly key: string
  /** Whether the rule let the request pass. A shadow rule reports what it would have decided. */
  readonly allowed: boolean
}

/**
 * A subscriber, called synchronously. It must be quick. Errors that it throws are dropped, so it never affects decisions. The limiter or
 * the engine reads once, when it is created, which of these methods the observer has.
 */
export interface Observer {
  /** Called after each decision of a limiter or an engine, but not for peeks. For one `wait` it may be called several times. */
  onDecision?(event: DecisionEvent): void
  /** Called after each call of a store. */
  onStoreCall?(event: StoreEvent): void
  /** Called by an engine for every rule that has a key. If no observer implements it, keys are not hashed. */
  onCharge?(event: ChargeEvent): void
}

/** An observer that has a method for this kind of event. */
export type Listening<Verb extends keyof Observer> = Observer & Required<Pick<Observer, Verb>>

/** The observers that have a method for this kind of event. */
export function listeningTo<Verb extends keyof Observer>(observers: readonly Observer[], verb: Verb): readonly Listening<Verb>[] {
  return observers.filter((observer): observer is Listening<Verb> => observer[verb] !== undefined)
}

// There is one function for each kind of event, because calling a method by a variable name needs a lookup each time. Each reports the
// event to every observer, even if another one throws: a failing observer must not fail the request.

export function notifyOfDecision(observers: readonly Listening<'onDecision'>[], event: DecisionEvent): void {
  for (const observer of observers) {
    try {
      observer.onDecision(event)
    } catch {}
  }
}

export function notifyOfStoreCall(observers: readonly Listening<'onStoreCall'>[], event: StoreEvent): void {
  for (const observer of observers) {
    try {
      observer.onStoreCall(event)
    } catch {}
  }
}

export function notifyOfCharge(observers: readonly Listening<'onCharge'>[], event: ChargeEvent): void {
  for (const observer of observers) {
    try {
      observer.onCharge(event)
    } catch {}
  }
}
