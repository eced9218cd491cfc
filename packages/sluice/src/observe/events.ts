import { dropRejection } from '../errors/call-observer.ts'
import type { Decision, Outcome } from '../decision/decision.ts'

/**
 * The result of one rule or limit. `withheld`: this one would have let the request pass, but another refused it, so this one charged
 * nothing. A shadow rule reports `allowed`, `shadow_denied`, or `undecided` if the store failed.
 */
export interface RuleResult {
  /** Name of the rule or limit. */
  readonly rule: string
  /** The rule's own result. The decision may differ. */
  readonly result: Outcome | 'withheld' | 'shadow_denied'
  /** Set if the rule is in shadow: it never refuses a request. */
  readonly shadow?: true
  /** Set if the charge created the key's state: the key is new, or its old state had expired. */
  readonly newKey?: true
  /** Kind of the StoreFailure, if the store failed. */
  readonly failure?: string
}

/** One decision. It contains no identity, only what metrics may contain. */
export interface DecisionEvent {
  /** Name of the limiter; for an engine always `policy`. */
  readonly limiter: string
  /** A pattern, never a concrete path: the route that the caller names, otherwise the most specific path pattern of the matching rules. */
  readonly route?: string | undefined
  /** As the caller got it. */
  readonly decision: Decision
  /** Name of the store. */
  readonly store: string
  /** One for each rule that applies, or for each limit of the limiter. */
  readonly results: readonly RuleResult[]
  /** Set if the request may not pass: the rule or limit that counts the refusal in metrics. */
  readonly refusedBy?: string | undefined
  /** From the call to the decision. If the store is in this process and its calls are observed, only the store call is measured. */
  readonly durationMs: number
}

/**
 * One store call of a limiter or an engine. Not reported are calls that `remoteStore` answers without the store or makes by itself, such as
 * for leases, and calls of the local fallback.
 */
export interface StoreEvent {
  /** Name of the store. */
  readonly store: string
  /** What was called. */
  readonly operation: 'decide' | 'peek' | 'change' | 'ready'
  /** From the call to its end. */
  readonly durationMs: number
  /** Kind of the StoreFailure, if it failed. */
  readonly failure?: string
  /** The message of the StoreFailure. */
  readonly reason?: string
}

/** One decision of a rule for a key. */
export interface ChargeEvent {
  /** Of the rule. */
  readonly rule: string
  /** The pseudonym that replaces the key, if the policy requires pseudonyms, otherwise a keyed hash. */
  readonly key: string
  /**
   * Whether the rule let the request pass; if the store failed, whether the failure policy did. A shadow rule reports what it would have
   * decided, and true if the store failed.
   */
  readonly allowed: boolean
}

/**
 * Called synchronously, so it must be quick. What it throws or rejects with is dropped. Which methods it has is read once, when the limiter or
 * engine is created.
 */
export interface Observer {
  /** Called after each decision except peeks. One `wait` may call it several times. */
  onDecision?(event: DecisionEvent): void
  /** Called after each call of a store. */
  onStoreCall?(event: StoreEvent): void
  /** Called by an engine for every rule that has a key. If no observer has this method, keys are not hashed. */
  onCharge?(event: ChargeEvent): void
}

export type Listening<Verb extends keyof Observer> = Observer & Required<Pick<Observer, Verb>>

export function listeningTo<Verb extends keyof Observer>(observers: readonly Observer[], verb: Verb): readonly Listening<Verb>[] {
  return observers.filter((observer): observer is Listening<Verb> => observer[verb] !== undefined)
}

// One function for each kind of event, because calling a method by a variable name is slower.

export function notifyOfDecision(observers: readonly Listening<'onDecision'>[], event: DecisionEvent): void {
  for (const observer of observers) {
    try {
      dropRejection(observer.onDecision(event))
    } catch {}
  }
}

export function notifyOfStoreCall(observers: readonly Listening<'onStoreCall'>[], event: StoreEvent): void {
  for (const observer of observers) {
    try {
      dropRejection(observer.onStoreCall(event))
    } catch {}
  }
}

export function notifyOfCharge(observers: readonly Listening<'onCharge'>[], event: ChargeEvent): void {
  for (const observer of observers) {
    try {
      dropRejection(observer.onCharge(event))
    } catch {}
  }
}
