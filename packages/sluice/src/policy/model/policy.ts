import type { TrustedProxies } from '../../identity/trusted-proxies.ts'
import type { Bound, StoreKind } from './bound.ts'
import type { Exemption } from './exemption.ts'
import type { FailureChoice, Override, Rule } from './rule.ts'
import type { HeaderChoice } from './header-choice.ts'
import type { RegionChoice } from './region-choice.ts'
import type { StoreUrl } from './store-url.ts'

/** A compiled policy; frozen. */
export interface Policy {
  /** Determined by fields: `rules`, `rate_limits`, or rules with `limit_keys`. */
  readonly dialect: 'native' | 'rate-limits' | 'bundle'
  /** In the order of the file; names are unique. */
  readonly rules: readonly Rule[]
  /** Requests that no rule limits. */
  readonly exempt?: readonly Exemption[]
  /** Other limits for single keys of a rule. */
  readonly overrides?: readonly Override[]
  /** Valid but doubtful parts, each with file, line and column. */
  readonly warnings: readonly string[]
  /** The store's URL. Never print it: it may contain a password. */
  readonly store?: string
  /** `store`, parsed. */
  readonly storeUrl?: StoreUrl
  /** The regions that share the limits; absent: limits are not divided. */
  readonly regions?: RegionChoice
  /** What is done while the store fails. */
  readonly failure: FailureChoice
  /** Which header fields answers have. */
  readonly headers: HeaderChoice
  /** Proxies whose forwarding header is believed; absent: none. */
  readonly trustedProxies?: TrustedProxies
  /** Whether keys contain identifiers or pseudonyms; absent: identifiers. */
  readonly identifiers?: IdentifierChoice
  /** How reservation ids are signed, and how many may be open. */
  readonly reservations?: {
    /** File of the signing secret, relative to the policy's folder; absent: a random secret. */
    readonly secretFile?: string
    /** The most open reservations of a key; absent: any number. */
    readonly maxHolds?: number
  }
  /** How JWTs are verified; absent: every claim counts as absent. */
  readonly jwt?: JwtChoice
  /** Hash of the policy's text: 16 hexadecimal digits. */
  readonly hash: string
  /**
   * Tokens by which a rule may exceed its limit, over all regions. It is the largest bound of the rule's tiers and of its overrides in the
   * policy, also ended ones. Overrides set at run time are in no bound.
   * @throws LimiterError INVALID_OPTIONS for an invalid rule or kind
   */
  boundOf(rule: Rule, kind: StoreKind): Bound
}

/** Whether keys contain identifiers, or hashes of them with a secret. */
export type IdentifierChoice =
  | {
      /** Keys contain the values as they are. */
      readonly mode: 'plain'
    }
  | {
      /** Keys contain a keyed hash of the values. */
      readonly mode: 'hmac'
      /** File of the hash's secret, relative to the policy's folder. */
      readonly secretFile: string
    }

export type PolicyBody = Omit<Policy, 'dialect' | 'hash' | 'warnings' | 'boundOf'>

/** How JWTs are verified. File names are relative to the policy's folder. */
export type JwtChoice =
  | ({
      /** A secret that issuer and service share. */
      readonly by: 'secret'
      /** The file of the secret. */
      readonly file: string
    } & JwtChecks)
  | ({
      /** The public keys of an issuer, in a file. */
      readonly by: 'jwks'
      /** The file of the JSON Web Key Set. */
      readonly file: string
    } & JwtChecks)
  | ({
      /** The public keys of an issuer, fetched from it. */
      readonly by: 'url'
      /** Where the JSON Web Key Set is fetched. */
      readonly url: string
    } & JwtChecks)
  | {
      /** An upstream proxy has verified the tokens, so they are only decoded. */
      readonly by: 'upstream'
    }

/** What a token must satisfy in addition to its signature. */
export interface JwtChecks {
  /** Accepted signature algorithms; never `none`. */
  readonly algorithms: readonly string[]
  /** The required `iss`; absent: any. */
  readonly issuer?: string
  /** The token's audience must include one of these. */
  readonly audience?: readonly string[]
  /** Milliseconds that clocks may differ by. */
  readonly leewayMs: number
}
