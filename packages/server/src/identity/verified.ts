import { createHash } from 'node:crypto'
import type { Claims } from 'sluice/policy'

interface Entry {
  readonly claims: Claims
  /** Milliseconds since 1970 at which the token expires. */
  readonly until: number
}

/**
 * A cache of the claims of verified tokens, by digest of the token, while the token is valid. It evicts the least recently used entry.
 */
export interface VerifiedTokens {
  get(digest: string, now: number): Claims | undefined
  add(digest: string, claims: Claims, until: number): void
  readonly size: number
}

/** @param most entries kept at the same time */
export function verifiedTokens(most: number): VerifiedTokens {
  const entries = new Map<string, Entry>()
  return {
    get(digest, now) {
      const entry = entries.get(digest)
      if (entry === undefined) return undefined
      entries.delete(digest)
      if (now >= entry.until) return undefined
      // A Map iterates in insertion order, so this makes the entry the most recently used one.
      entries.set(digest, entry)
      return entry.claims
    },
    add(digest, claims, until) {
      entries.delete(digest)
      if (entries.size >= most) entries.delete(entries.keys().next().value as string)
      entries.set(digest, { claims, until })
    },
    get size() {
      return entries.size
    },
  }
}

/** A digest that replaces the token in memory, because the token itself is a secret. */
export function digestOf(token: string): string {
  return createHash('sha256').update(token).digest('base64url')
}
