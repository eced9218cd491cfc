import type { TrustedProxies } from '../../identity/trusted-proxies.ts'
import type { Bound, StoreKind } from './bound.ts'
import type { Exemption } from './exemption.ts'
import type { FailureChoice, Override, Rule } from './rule.ts'
import type { HeaderChoice } from './header-choice.ts'
import type { RegionChoice } from './region-choice.ts'
import type { StoreUrl } from './store-url.ts'

/** A parsed, validated and compiled policy. It is frozen, and has the same form in every dialect. */
export interface Policy {
  /** `native`: version and rules. `rate-limits`: the template of global, tenant and endpoint limits. `bundle`: rules with `limit_keys`. */
  readonly dialect: 'native' | 'rate-limits' | 'bundle'
  /** The rules in the order of the file; their names are unique. */
  readonly rules: readonly Rule[]
  /** Requests that no rule limits. */
  readonly exempt?: readonly Exemption[]
  /** Other limits for single keys: at most one override for each key of a rule. */
  readonly overrides?: readonly Override[]
  /** Valid but doubtful parts, each with file, line and column. */
  readonly warnings: readonly string[]
  /** URL of the store that the policy names. It may contain a password: never print it. */
  readonly store?: string
  /** `store`, parsed. */
  readonly storeUrl?: StoreUrl
  /** The regions that share the limits. Absent: limits are not divided among regions. */
  readonly regions?: RegionChoice
  /** What is done while the store fails. */
  readonly failure: FailureChoice
  /** Which header fields answers have. */
  readonly headers: HeaderChoice
  /**
   * The proxies whose forwarding header is believed. Absent: no proxy is believed, and the policy does not say whether there are proxies.
   */
  readonly trustedProxies?: TrustedProxies
  /** Whether keys contain identifiers as they are or as pseudonyms; absent: as they are. */
  readonly identifiers?: IdentifierChoice
  /**
   * How the service signs the ids of reservations, and how many may be open. Absent: a random secret of the process signs them, and any
   * number may be open.
   */
  readonly reservations?: {
    /** File with the secret that signs, relative to the policy's folder; absent: a secret of the process signs. */
    readonly secretFile?: string
    /** How many reservations of a key may be open at once; absent: any number. */
    readonly maxHolds?: number
  }
  /** How tokens are verified. Absent: no token is verified, and every claim counts as absent. */
  readonly jwt?: JwtChoice
  /** A hash of the text that distinguishes policies: 16 hexadecimal digits. */
  readonly hash: string
  /**
   * By how many tokens a rule may exceed its limit on a store of this kind, over all regions together.
   * @throws LimiterError INVALID_OPTIONS for an invalid rule or kind
   */
  boundOf(rule: Rule, kind: StoreKind): Bound
}

/** `hmac`: the parts of keys that identify somebody are replaced by a hash with the secret in this file. */
export type IdentifierChoice =
  | {
      /** Keys contain the values as they are. */
      readonly mode: 'plain'
    }
  | {
      /** Keys contain a keyed hash of the values. */
      readonly mode: 'hmac'
      /** File with the secret of the hash, relative to the policy's folder. */
      readonly secretFile: string
    }

/** The part of a policy that the reader of each dialect makes. The rest is made in the same way for all dialects. */
export type PolicyBody = Omit<Policy, 'dialect' | 'hash' | 'warnings' | 'boundOf'>

/** How the tokens of requests are verified. File names are relative to the policy's folder. */
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
