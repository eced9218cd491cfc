import type { TokenKeys } from './keys.ts'

/** The keys that verify tokens, and how they are kept up to date. */
export interface KeySource {
  /** Undefined if tokens were verified upstream. */
  readonly keys: TokenKeys | undefined
  /** Follows the published keys from now on; the returned function stops that. */
  follow(follower: KeyFollower): () => void
}

export interface KeyFollower {
  /** The keys changed, so cached verifications may be wrong. */
  changed(): void
  /** A line for the operator: keys were replaced, or cannot be. */
  says(line: string): void
}
