import { HOLD_TAG } from '../../../algorithms/hold-record.ts'
import type { Micros } from '../../../time/micros.ts'
import type { Time } from '../../../time/time.ts'
import { type Scope, StoreFailure } from '../../store.ts'
import type { BatchState } from '../../batch/batch.ts'

/** The decision for a new key beyond `maxNewKeys`. */
export type OnFull = 'allow' | 'deny' | 'shared'

export interface NewKeysOptions {
  /**
   * The most new keys per second that this store may create for each limit, and the most at once; default unbounded. Calls in flight may
   * exceed the bound; the excess is subtracted from the keys of the next seconds. With this option, states are kept ten minutes longer than
   * needed, so that a key that comes back is not new. Set the option in all processes or in none.
   */
  readonly maxNewKeys?: number
  /**
   * The decision for a new key beyond `maxNewKeys`, which gets no state: `allow` it, `deny` it, or `shared`. With `shared` it is decided by
   * one of 1,024 states that all such keys of its limit share; they start empty. Default: the call fails, so the failure policy applies.
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

/** The failure of a call whose new key is refused. */
export const FULL: StoreFailure = new StoreFailure('memory', 'no', 'redis: more new keys than maxNewKeys')

/** Scopes of shared states begin with this character. Encoded names of limiters never do (`encodePart`). */
const SHARED = '$'
/** Scopes of records of holds end with this. */
const RECORDS = `:${HOLD_TAG}:`

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
  // Shared states are few, and records of holds are as many as calls that were charged, so neither are bounded.
  const isExempt = (scope: string): boolean => scope.startsWith(SHARED) || scope.endsWith(RECORDS)
  const closed = (scope: string): boolean => !isExempt(scope) && levelOf(scope).level < 1
  return {
    closed,
    closedAmong(states) {
      const scopes = new Set(states.map(scopeOf))
      const full = new Set([...scopes].filter(closed))
      return new Set(states.filter((state) => full.has(scopeOf(state))))
    },
    made(scopes) {
      for (const scope of scopes) if (!isExempt(scope)) levelOf(scope).level -= 1
    },
  }
}

function scopeOf({ first }: BatchState): string {
  return first.id.scope.text
}
