import { createHash } from 'node:crypto'
import { decodeJwt, errors, type JWTPayload, jwtVerify, type JWTVerifyOptions } from 'jose'
import type { Claims, JwtChoice, RequestFacts } from 'sluice/policy'
import { counter } from '../http/service-metrics.ts'
import { KeysUnavailable, type TokenKeys } from './remote-keys.ts'

type Invalid = 'malformed' | 'signature' | 'algorithm' | 'key' | 'expired' | 'early' | 'claim'
/** The result for a token. With any other result than `accepted` and `cached`, the request has no claims. */
export type TokenResult = 'accepted' | 'cached' | 'unavailable' | Invalid

export type CountToken = (result: TokenResult) => void
export type TokenVerifier = ReturnType<typeof createVerifier>

export interface VerifierParts {
  readonly keys: TokenKeys | undefined
  readonly choice: JwtChoice
  readonly now: () => number
  readonly count: CountToken
  /** The most verified tokens in the cache; default 10,000. */
  readonly remembered?: number
}

/** Longer tokens are rejected before they are hashed, to save the work. */
const MAX_TOKEN_LENGTH = 16_384
const BEARER = /^bearer +([\w-]+\.[\w-]+\.[\w-]*)$/i

/** Verifies bearer tokens. It verifies a token once and caches its claims until the token expires. */
export function createVerifier({ keys, choice, now, count, remembered = 10_000 }: VerifierParts) {
  let known = verifiedTokens(remembered)
  const leewayMs = choice.by === 'upstream' ? 0 : choice.leewayMs
  const options = optionsOf(choice)
  const read = async (token: string): Promise<JWTPayload> => {
    if (keys === undefined) return decodeJwt(token)
    return payloadOf(token, keys, { ...options, currentDate: new Date(now()) })
  }
  return {
    /** Clears the cache, because keys have changed: every token is verified again. */
    forget: () => void (known = verifiedTokens(remembered)),
    /** The claims of a request's bearer token, if it has one and it is valid. */
    async claims({ headers }: Pick<RequestFacts, 'headers'>): Promise<Claims | undefined> {
      const header = Object.hasOwn(headers, 'authorization') ? headers['authorization'] : undefined
      const text = typeof header === 'string' ? header : header?.join(', ')
      // Other authentication schemes are ignored.
      if (text === undefined || !/^bearer(?: |$)/i.test(text)) return undefined
      const token = text.length > MAX_TOKEN_LENGTH ? undefined : BEARER.exec(text.trim())?.[1]
      if (token === undefined) {
        count('malformed')
        return undefined
      }
      // The cache contains this digest in place of the token, because the token itself is a secret.
      const digest = createHash('sha256').update(token).digest('base64url')
      // If keys change while the token is verified, `known` is replaced. The result then goes into the discarded cache.
      const table = known
      const before = table.get(digest, now())
      if (before !== undefined) {
        count('cached')
        return before
      }
      try {
        const claims = await read(token)
        count('accepted')
        table.add(digest, claims, claims.exp === undefined ? Number.POSITIVE_INFINITY : claims.exp * 1_000 + leewayMs)
        return claims
      } catch (error) {
        count(resultOf(error))
        return undefined
      }
    },
  }
}

function optionsOf(choice: JwtChoice): JWTVerifyOptions {
  if (choice.by === 'upstream') return {}
  const { algorithms, issuer, audience, leewayMs } = choice
  return {
    algorithms: [...algorithms],
    clockTolerance: leewayMs / 1_000,
    ...(issuer === undefined ? {} : { issuer }),
    ...(audience === undefined ? {} : { audience: [...audience] }),
  }
}

/** Verifies a token. If the token names no key and several keys could have signed it, each of them is tried. */
async function payloadOf(token: string, key: TokenKeys, options: JWTVerifyOptions): Promise<JWTPayload> {
  try {
    return (await (typeof key === 'function' ? jwtVerify(token, key, options) : jwtVerify(token, key, options))).payload
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error
    for await (const candidate of error) {
      try {
        return (await jwtVerify(token, candidate, options)).payload
      } catch (failure) {
        if (!(failure instanceof errors.JWSSignatureVerificationFailed)) throw failure
      }
    }
    throw new errors.JWSSignatureVerificationFailed()
  }
}

function resultOf(error: unknown): TokenResult {
  if (error instanceof KeysUnavailable) return 'unavailable'
  if (error instanceof errors.JWTExpired) return 'expired'
  if (error instanceof errors.JWTClaimValidationFailed) return error.claim === 'nbf' ? 'early' : 'claim'
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'signature'
  if (error instanceof errors.JOSEAlgNotAllowed) return 'algorithm'
  return error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JOSENotSupported ? 'key' : 'malformed'
}

/**
 * A cache of the claims of valid tokens, by digest of the token. It evicts the least recently used entry.
 * @param most entries kept at the same time
 */
export function verifiedTokens(most: number) {
  const entries = new Map<string, { readonly claims: Claims; readonly until: number }>()
  return {
    get(digest: string, now: number): Claims | undefined {
      const entry = entries.get(digest)
      if (entry === undefined) return undefined
      entries.delete(digest)
      if (now >= entry.until) return undefined
      // A Map iterates in insertion order, so this makes the entry the most recently used one.
      entries.set(digest, entry)
      return entry.claims
    },
    /** @param until milliseconds since 1970 at which the token expires */
    add(digest: string, claims: Claims, until: number) {
      entries.delete(digest)
      if (entries.size >= most) entries.delete(entries.keys().next().value as string)
      entries.set(digest, { claims, until })
    },
    get size() {
      return entries.size
    },
  }
}

/** Counts tokens by the result of their verification. An identity is never a label. */
export function tokenCounts() {
  const counts = new Map<TokenResult, number>()
  const help = 'Bearer tokens by what became of them; all but accepted and cached count as no token.'
  const read = () => [...counts].map(([result, value]) => ({ labels: { result }, value }))
  return {
    count: (result: TokenResult) => void counts.set(result, (counts.get(result) ?? 0) + 1),
    metric: counter('sluice_tokens_total', help, read),
  }
}
