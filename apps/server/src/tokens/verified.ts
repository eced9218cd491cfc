import { createHash } from 'node:crypto'
import type { Claims } from 'sluice/policy'

interface Entry {
  readonly claims: Claims
  /** Milliseconds since 1970 at which the token ends. */
  readonly until: number
}

/** Claims of tokens that were verified, by a digest of the token, as long as the token is valid; the one used longest ago goes first. */
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
      // Maps keep the order in which they were filled.
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

/** What stands for a token in memory: the token itself would be a secret that lies around. */
export function digestOf(token: string): string {
  return createHash('sha256').update(token).digest('base64url')
}
