import type { OnStoreFailure } from './rule.ts'

/** What a policy says about a store that cannot answer. */
export interface FailureChoice {
  /** Milliseconds a remote store may take. */
  readonly deadlineMs: number
  /** For rules that do not say their own. */
  readonly policy: OnStoreFailure
  /** Processes that share the store at most, and the longest time it may be away in milliseconds: what a bound is computed from. */
  readonly processes?: number
  readonly outageMs?: number
}
