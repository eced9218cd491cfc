import type { Micros } from '../../../time/micros.ts'
import type { Time } from '../../../time/time.ts'
import { type Scope, StoreFailure } from '../../store.ts'
import type { BatchState } from '../../batch/batch.ts'
import { isRecordScope } from '../names.ts'

/** What happens to a call of a new key beyond `maxNewKeys`. */
export type OnFull = 'allow' | 'deny' | 'shared'

export interface NewKeysOptions {
  /**
   * The most new keys per second that this store may create for each limit, and the most at once; default unbounded. Calls in flight may
   * exceed the bound. Then fewer new keys may be created in the next seconds. With this option, states are kept ten minutes longer than
   * needed, so that a key that comes back is not new. Set the option in all processes or in none.
   */
  readonly maxNewKeys?: number
  /**
   * What happens to a call of a new key beyond `maxNewKeys`, for which no state is created. It is allowed (`allow`), denied (`deny`), or
   * decided by an overflow state (`shared`). All such keys of a limit share 1,024 overflow states, which start empty. Default: the call
   * fails, so the failure policy applies.
   */
  readonly onFull?: OnFull
}

/** Counts the keys that a store creates, and says whether more may be created. */
export interface NewKeys {
  /** Whether keys of this scope may not be created now. */
  closed(scope: string): boolean
  /** Which of these states may not be created now. */
  closedAmong(states: readonly BatchState[]): ReadonlySet<BatchState>
  /** Counts states that were created. Takes the scope of each. */
  made(scopes: readonly string[]): void
}

/**
 * Microseconds for which states are kept after they are needed, if new keys are counted. A key that comes back within this time is not new.
 */
export const KEPT: Micros = 600_000_000

/** The failure of a call of a new key that may not be created. */
export const FULL: StoreFailure = new StoreFailure('memory', 'no', 'redis: more new keys than maxNewKeys')

/** The first character of scopes of overflow states. Encoded names of limiters never begin with it (`encodePart`). */
const SHARED = '$'

/** The scope of the overflow states that keys of another scope share when they may not be created. */
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
  // Neither overflow states nor hold records are bounded. Overflow states are few. There are no more hold records than calls that were
  // charged.
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
