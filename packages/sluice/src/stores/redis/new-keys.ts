import type { Micros } from '../../time/micros.ts'
import type { Time } from '../../time/time.ts'
import { type Scope, StoreFailure } from '../store.ts'
import type { AskedState } from './question.ts'

/** What becomes of a new key beyond `maxNewKeys`. */
export type OnFull = 'allow' | 'deny' | 'shared'

export interface NewKeysOptions {
  /**
   * New keys a second and scope that this store may make, and as many at once; default no bound. Calls under way may pass it, and are made up for. States
   * are then kept ten minutes longer than they are needed, so that a key that comes back is not new: set it in all processes or in none.
   */
  readonly maxNewKeys?: number
  /**
   * What becomes of a new key beyond that, of which nothing is written: `allow` or `deny` it, `shared`: decided by one of 1,024 states
   * that all such keys of its limit share and that start empty. Default: it is `undecided`, and the failure policy holds.
   */
  readonly onFull?: OnFull
}

/** Counts the keys that a store makes. */
export interface NewKeys {
  /** Whether no key of this scope may be made now. */
  closed(scope: string): boolean
  /** Counts what was made. */
  made(states: readonly AskedState[]): void
}

/** So long are states kept after they are needed, where new keys are counted: a key that comes back within it is not new. */
export const KEPT: Micros = 600_000_000

/** What a refused key is told. */
export const FULL: StoreFailure = new StoreFailure('memory', 'no', 'redis: more new keys than maxNewKeys')

/** Names of limiters and limits never begin with it (`encodePart`). */
const SHARED = '$'

/** The scope of the states that refused keys of another scope share. */
export function sharedScope(text: string): Scope {
  return { text: `${SHARED}overflow:${text}` }
}

export function createNewKeys({ maxNewKeys = Number.POSITIVE_INFINITY }: NewKeysOptions, clock: Time): NewKeys {
  const left = new Map<string, { level: number; at: number }>()
  const levelOf = (scope: string): { level: number; at: number } => {
    const now = clock.monotonic()
    const known = left.get(scope) ?? { level: maxNewKeys, at: now }
    known.level = Math.min(maxNewKeys, known.level + ((now - known.at) / 1_000) * maxNewKeys)
    known.at = now
    left.set(scope, known)
    return known
  }
  if (maxNewKeys === Number.POSITIVE_INFINITY) return { closed: () => false, made: () => {} }
  return {
    // Shared states are few: they are not bounded.
    closed: (scope) => !scope.startsWith(SHARED) && levelOf(scope).level < 1,
    made(states) {
      for (const { scope, made } of states) if (made && !scope.startsWith(SHARED)) levelOf(scope).level -= 1
    },
  }
}
