import type { TrustedProxies } from '../identity/trusted-proxies.ts'
import type { HeaderChoice } from './header-choice.ts'
import type { OnStoreFailure, Rule } from './rule.ts'

/** A policy that was read, checked and compiled; frozen, and the same whichever dialect it was written in. */
export interface Policy {
  /** `native`: version and rules. `rate-limits`: the template of global, tenant and endpoint limits. */
  readonly dialect: 'native' | 'rate-limits'
  /** In the order of the file; names are unique. */
  readonly rules: readonly Rule[]
  /** What is allowed and probably not meant, each with file, line and column. */
  readonly warnings: readonly string[]
  /** URL of the store the policy asks for. It may hold a password: never print it. */
  readonly store?: string
  readonly failure: {
    /** Milliseconds a remote store may take. */
    readonly deadlineMs: number
    /** For rules that do not say their own. */
    readonly policy: OnStoreFailure
  }
  readonly headers: HeaderChoice
  readonly trustedProxies?: TrustedProxies
  /** Tells policies apart: 16 hexadecimal digits of the text. */
  readonly hash: string
}

/** What a dialect reads; the rest of a policy is the same for all. */
export type PolicyBody = Omit<Policy, 'dialect' | 'hash' | 'warnings'>
