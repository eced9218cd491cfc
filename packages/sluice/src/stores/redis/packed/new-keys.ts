import type { Micros } from '../../../time/micros.ts'
import type { Time } from '../../../time/time.ts'
import { type Scope, StoreFailure } from '../../store.ts'
import type { BatchState } from '../../batch/batch.ts'

/** The decision for a new key beyond `maxNewKeys`. */
export type OnFull = 'allow' | 'deny' | 'shared'

export interface NewKeysOptions {
  /**
   * New keys per second and scope that this store may create, and as many at once; default unbounded. Calls in flight may exceed it; the
   * excess is subtracted later. States are then kept ten minutes longer than needed, so that a key that comes back is not new: set it in
   * all processes or in none.
   */
  readonly maxNewKeys?: number
  /**
   * The decision for a new key beyond that, for which nothing is written: `allow` it, `deny` it, or `shared`: decide it by one of 1,024
   * states that all such keys of its limit share and that start empty. Default: `undecided`, so the failure policy applies.
   */
  readonly onFull?: OnFull
}

/** Counts the keys that a store creates. */
export interface NewKeys {
  /** Whether no key of this scope may be created now. */
  closed(scope: string): boolean
  /** The states that may not be created now. */
  closedAmong(states: readonly BatchState[]): ReadonlySet<BatchState>
  /** Counts states that were created, by their scopes. */
  made(scopes: readonly string[]): void
}

/** How long states are kept after they are needed if new keys are counted: a key that comes back within this time is not new. */
export const KEPT: Micros = 600_000_000

/** The failure of a refused key. */
export const FULL: StoreFailure = new StoreFailure('memory', 'no', 'redis: more new keys than maxNewKeys')

/** Names of limiters and limits never begin with this character (`encodePart`). */
const SHARED = '$'

/** The scope of the states that refused keys of another scope share. */
export function sharedScope(text: string): Scope {
  return { text: `${SHARED}overflow:${text}` }
}

export function createNewKeys(maxNewKeys: number, clock: Time): NewKeys {
  const left = new Map<string, { level: number; at: number }>()
  const levelOf = (scope: string): { level: number; at: number } => {
    const now = clock.monotonic()
    const known = left.get(scope) ?? { level: maxNewKeys, at: now }
    known.level = Math.min(maxNewKeys, known.level + ((now - known.at) / 1_000) * maxNewKeys)
    known.at = now
    left.set(scope, known)
    return known
  }
  // Shared states are few, so they are not bounded.
  const isShared = (scope: string): boolean => scope.startsWith(SHARED)
  const closed = (scope: string): boolean => !isShared(scope) && levelOf(scope).level < 1
  return {
    closed,
    closedAmong(states) {
      const scopes = new Set(states.map(scopeOf))
      const full = new Set([...scopes].filter(closed))
      return new Set(states.filter((state) => full.has(scopeOf(state))))
    },
    made(scopes) {
      for (const scope of scopes) if (!isShared(scope)) levelOf(scope).level -= 1
    },
  }
}

function scopeOf({ first }: BatchState): string {
  return first.id.scope.text
}
