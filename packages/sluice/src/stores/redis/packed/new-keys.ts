import type { Micros } from '../../../time/micros.ts'
import type { Time } from '../../../time/time.ts'
import { type Scope, StoreFailure } from '../../store.ts'
import type { BatchState } from '../../batch/batch.ts'
import { isRecordScope } from '../names.ts'

/** How a call of a new key beyond `maxNewKeys` is decided. */
export type OnFull = 'allow' | 'deny' | 'shared'

export interface NewKeysOptions {
  /**
   * The most new keys that this store creates per second, and at once, for each limit; default unbounded. Calls in flight may exceed it;
   * the next seconds then get fewer. Set it in all processes or in none: states are kept ten minutes longer, so that returning
   * keys are not new.
   */
  readonly maxNewKeys?: number | undefined
  /**
   * How a call of a new key beyond `maxNewKeys` is decided: `allow`, `deny`, or by one of 1,024 states that all such keys of a
   * limit share (`shared`), and that allow nothing at first. By default the call fails, and the failure policy applies.
   */
  readonly onFull?: OnFull | undefined
}

export interface NewKeys {
  /** Whether keys of this scope may not be created now. */
  closed(scope: string): boolean
  closedAmong(states: readonly BatchState[]): ReadonlySet<BatchState>
  /** Counts created states, by the scope of each. */
  made(scopes: readonly string[]): void
}

/** Microseconds for which states are kept after they are needed. */
export const KEPT: Micros = 600_000_000

export const FULL: StoreFailure = new StoreFailure('memory', 'no', 'redis: more new keys than maxNewKeys')

/** The first character of scopes of overflow states. Encoded names of limiters never begin with it. */
const SHARED = '$'

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
  // Each limit has at most 1,024 overflow states (`onFull: 'shared'`). Only charged calls create records of holds.
  const isExempt = (scope: string): boolean => scope.startsWith(SHARED) || isRecordScope(scope)
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
