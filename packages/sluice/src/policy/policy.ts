import type { TrustedProxies } from '../identity/trusted-proxies.ts'
import type { Bound, StoreKind } from './bound.ts'
import type { Exemption } from './exemption.ts'
import type { FailureChoice } from './failure-choice.ts'
import type { HeaderChoice } from './header-choice.ts'
import type { JwtChoice } from './jwt.ts'
import type { Override } from './override.ts'
import type { Rule } from './rule.ts'
import type { StoreUrl } from './store-url.ts'

/** A policy that was read, checked and compiled; frozen, and the same whichever dialect it was written in. */
export interface Policy {
  /** `native`: version and rules. `rate-limits`: the template of global, tenant and endpoint limits. `bundle`: rules with `limit_keys`. */
  readonly dialect: 'native' | 'rate-limits' | 'bundle'
  /** In the order of the file; names are unique. */
  readonly rules: readonly Rule[]
  /** Requests that no rule limits. */
  readonly exempt?: readonly Exemption[]
  /** No two for one key of one rule. */
  readonly overrides?: readonly Override[]
  /** What is allowed and probably not meant, each with file, line and column. */
  readonly warnings: readonly string[]
  /** URL of the store the policy asks for. It may hold a password: never print it. */
  readonly store?: string
  /** The same, read into its parts. */
  readonly storeUrl?: StoreUrl
  readonly failure: FailureChoice
  readonly headers: HeaderChoice
  readonly trustedProxies?: TrustedProxies
  /** Whether keys are kept as they are or as pseudonyms; absent: as they are. */
  readonly identifiers?: IdentifierChoice
  /** How tokens are verified; absent: they are not, and claims count as absent. */
  readonly jwt?: JwtChoice
  /** Tells policies apart: 16 hexadecimal digits of the text. */
  readonly hash: string
  /** How far the rule can go over its limit on a store of this kind. @throws LimiterError INVALID_OPTIONS for what is neither */
  boundOf(rule: Rule, kind: StoreKind): Bound
}

/** `hmac`: attributable parts of keys are replaced by a hash with the secret in this file. */
export type IdentifierChoice = { readonly mode: 'plain' } | { readonly mode: 'hmac'; readonly secretFile: string }

/** What a dialect reads; the rest of a policy is the same for all. */
export type PolicyBody = Omit<Policy, 'dialect' | 'hash' | 'warnings' | 'boundOf'>
