import type { OnStoreFailure } from './rule.ts'

export const DEFAULT_DEADLINE = { deadlineMs: 50, defaultDeadline: true } as const

/** The settings of a policy for a store that cannot answer. */
export interface FailureChoice {
  /** Milliseconds a remote store may take. */
  readonly deadlineMs: number
  /** Set if the policy states no deadline: the first calls may then take longer, while the first connection is made. */
  readonly defaultDeadline?: true
  /** For rules without their own `onStoreFailure`. */
  readonly policy: OnStoreFailure
  /** The most processes that share the store, and the longest outage in milliseconds; bounds are computed from them. */
  readonly processes?: number
  readonly outageMs?: number
  /** Absent: the defaults of the breaker. */
  readonly breaker?: BreakerChoice
}

/** When to stop calling a store that fails, and when to probe it. An absent field is the breaker's default. */
export interface BreakerChoice {
  /** Failures within `windowMs` milliseconds that open it. */
  readonly failures?: number
  readonly windowMs?: number
  /** Milliseconds between probes. */
  readonly probeMs?: number
}
