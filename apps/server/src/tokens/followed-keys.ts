import type { TokenKeys } from './keys.ts'

/** Where the keys of tokens come from, and how they are kept up to date. */
export interface KeySource {
  /** Undefined where tokens were verified upstream. */
  readonly keys: TokenKeys | undefined
  /** Follows what is published from now on, until the function that comes of it is called. */
  follow(follower: KeyFollower): () => void
}

export interface KeyFollower {
  /** What was verified before may not be true any more. */
  changed(): void
  /** What a person should know: that keys were replaced, or cannot be. */
  says(line: string): void
}
