import type { AnyLimit } from '../../algorithms/algorithm.ts'
import { MICRO } from '../../algorithms/decimal.ts'
import type { Micros } from '../../time/micros.ts'
import type { GroupVerdict, StoreFailure } from '../store.ts'

/**
 * What becomes of a key for which there is no room: `allow` or `deny` it, `shared`: decided by one of 1,024 states that all such
 * keys of its limit share and that start empty.
 */
export type OnFull = 'allow' | 'deny' | 'shared'

const OVERFLOW_STATES = 1_024
/** Limits with shared states, at most; the one that has them longest begins with empty ones again. */
const OVERFLOWING = 256

/** The shared states of limits, made as they are needed. */
export class Overflow {
  readonly #states = new Map<string, unknown[]>()

  /** The state that stands in for a key: at first empty, so that no flood of new keys brings a burst with it. */
  read(scope: string, lo: number, limit: AnyLimit, now: Micros, phase: number): unknown {
    const known = this.#states.get(scope)?.[lo & (OVERFLOW_STATES - 1)]
    if (known !== undefined) return known
    const empty = limit.algorithm.adjust(limit.plan, undefined, now, -Math.round(limit.capacity * MICRO), phase)
    this.write(scope, lo, empty)
    return empty
  }

  /**
   * What a key begins from that has a place again: it may have been decided here, and would bring a second burst, or come back before
   * its time, if it began afresh. Undefined where the key's stand-in was never used.
   */
  trace(scope: string, lo: number): unknown {
    return this.#states.size === 0 ? undefined : this.#states.get(scope)?.[lo & (OVERFLOW_STATES - 1)]
  }

  write(scope: string, lo: number, state: unknown): void {
    const states = this.#states.get(scope) ?? Array.from({ length: OVERFLOW_STATES }, () => undefined)
    const [oldest] = this.#states.keys()
    if (oldest !== undefined && this.#states.size >= OVERFLOWING && !this.#states.has(scope)) this.#states.delete(oldest)
    this.#states.set(scope, states)
    states[lo & (OVERFLOW_STATES - 1)] = state
  }
}

/** What a store without room answers. Logs have no shared states: under `shared` they are denied. */
export function noRoom(full: StoreFailure, onFull: OnFull | undefined): GroupVerdict {
  const undecided = {
    outcome: 'undecided',
    allowed: onFull === 'allow',
    at: Number.NaN,
    calls: [],
    source: 'store',
    degraded: full,
  } as const
  return onFull === undefined ? undecided : { ...undecided, onFull: onFull === 'allow' ? 'allow' : 'deny' }
}
