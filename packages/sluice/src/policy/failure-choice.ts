import type { OnStoreFailure } from './rule.ts'

/** The settings of a policy for a store that cannot answer. */
export interface FailureChoice {
  /** Milliseconds a remote store may take. */
  readonly deadlineMs: number
  /** For rules without their own `onStoreFailure`. */
  readonly policy: OnStoreFailure
  /** The most processes that share the store, and the longest outage in milliseconds; bounds are computed from them. */
  readonly processes?: number
  readonly outageMs?: number
}
