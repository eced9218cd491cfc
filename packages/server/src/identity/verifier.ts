import { createHash } from 'node:crypto'
import { decodeJwt, errors, type JWTPayload, jwtVerify, type JWTVerifyOptions } from 'jose'
import type { Claims, JwtChoice, RequestFacts } from 'sluice/policy'
import { counter } from '../http/service-metrics.ts'
import { KeysUnavailable, type TokenKeys } from './remote-keys.ts'

type Invalid = 'malformed' | 'signature' | 'algorithm' | 'key' | 'expired' | 'early' | 'claim'
/** Without `accepted` or `cached` the request has no claims. */
export type TokenResult = 'accepted' | 'cached' | 'unavailable' | Invalid

export type CountToken = (result: TokenResult) => void
export type TokenVerifier = ReturnType<typeof createVerifier>

export interface VerifierParts {
  readonly keys: TokenKeys | undefined
  readonly choice: JwtChoice
  readonly now: () => number
  readonly count: CountToken
  /** The most tokens in the cache; default 10,000. */
  readonly remembered?: number
}

/** Longer tokens are rejected before the work of hashing them. */
const MAX_TOKEN_LENGTH = 16_384
const BEARER = /^bearer +([\w-]+\.[\w-]+\.[\w-]*)$/i

/** Caches the claims of a verified token until the token expires. */
export function createVerifier({ keys, choice, now, count, remembered = 10_000 }: VerifierParts) {
  let known = verifiedTokens(remembered)
  const leewayMs = choice.by === 'upstream' ? 0 : choice.leewayMs
  const options = optionsOf(choice)
  const read = async (token: string): Promise<JWTPayload> => {
    if (keys === undefined) return decodeJwt(token)
    return payloadOf(token, keys, { ...options, currentDate: new Date(now()) })
  }
  return {
    /** Called when keys have changed: every token is verified again. */
    forget: () => void (known = verifiedTokens(remembered)),
    /** Undefined without a valid bearer token. */
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
      // The token itself is a secret, so the cache has its digest.
      const digest = createHash('sha256').update(token).digest('base64url')
      // If the keys change meanwhile, `known` is replaced, and this result goes into the discarded cache.
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

/** If the token names no key, each key that could have signed it is tried. */
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

export function verifiedTokens(most: number) {
  const entries = new Map<string, { readonly claims: Claims; readonly until: number }>()
  return {
    get(digest: string, now: number): Claims | undefined {
      const entry = entries.get(digest)
      if (entry === undefined) return undefined
      entries.delete(digest)
      if (now >= entry.until) return undefined
      // Maps iterate in insertion order: this entry becomes the most recently used.
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

/** An identity is never a label. */
export function tokenCounts() {
  const counts = new Map<TokenResult, number>()
  const help = 'Bearer tokens by what became of them; all but accepted and cached count as no token.'
  const read = () => [...counts].map(([result, value]) => ({ labels: { result }, value }))
  return {
    count: (result: TokenResult) => void counts.set(result, (counts.get(result) ?? 0) + 1),
    metric: counter('sluice_tokens_total', help, read),
  }
}
