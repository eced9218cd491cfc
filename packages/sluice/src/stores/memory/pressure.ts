import type { AnyLimit } from '../../algorithms/algorithm.ts'
import { MICRO } from '../../algorithms/decimal.ts'
import type { Micros } from '../../time/micros.ts'
import type { Failed, StoreFailure } from '../store.ts'

/**
 * The decision for a key without room: `allow` it, `deny` it, or `shared`: decide it by one of 1,024 states that all such keys of its
 * limit share and that start empty.
 */
export type OnFull = 'allow' | 'deny' | 'shared'

const OVERFLOW_STATES = 1_024
/** The most limits with shared states. Beyond it, the one that has had them longest starts again with empty ones. */
const OVERFLOWING = 256

/** The shared states of limits, created on first use. */
export class Overflow {
  readonly #states = new Map<string, unknown[]>()

  /** The shared state that replaces a key's own. It starts empty, so that a flood of new keys brings no burst. */
  read(scope: string, lo: number, limit: AnyLimit, now: Micros, phase: number): unknown {
    const known = this.#states.get(scope)?.[lo & (OVERFLOW_STATES - 1)]
    if (known !== undefined) return known
    const empty = limit.algorithm.adjust(limit.plan, undefined, now, -Math.round(limit.capacity * MICRO), phase)
    this.write(scope, lo, empty)
    return empty
  }

  /**
   * The initial state of a key that has room again. The key may have been decided by its shared state: a fresh state would give it a
   * second burst, or let it back early. Undefined if its shared state was never used.
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

/** The verdict for a group without room. Logs have no shared states: under `shared` they are denied. */
export function noRoom(failure: StoreFailure, onFull: OnFull | undefined): Failed {
  return onFull === undefined ? { failure } : { failure, onFull: onFull === 'allow' ? 'allow' : 'deny' }
}
