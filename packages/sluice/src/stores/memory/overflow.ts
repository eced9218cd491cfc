import type { AnyLimit } from '../../algorithms/algorithm.ts'
import { MICRO } from '../../algorithms/decimal.ts'
import type { Micros } from '../../time/micros.ts'

const STATES = 1_024
/**
 * The most limits that have overflow states at once. If a further limit needs some, those of the limit that has had overflow states longest
 * are dropped.
 */
const LIMITS = 256

/** The index of the overflow state of a key, among those of its limit. It is computed from `lo`, the lower half of the key's digest. */
export function cellOf(lo: number): number {
  return lo & (STATES - 1)
}

/**
 * Overflow states: keys for which the store has no room share these. Each limit has up to 1,024 overflow states, which are created on first
 * use.
 */
export class Overflow {
  readonly #states = new Map<string, unknown[]>()

  /**
   * The overflow state that decides for a key without a state of its own. A new overflow state starts without tokens, so that a flood of
   * new keys gets no burst.
   */
  read(scope: string, lo: number, limit: AnyLimit, now: Micros, phase: number): unknown {
    const known = this.trace(scope, lo)
    if (known !== undefined) return known
    const empty = limit.algorithm.adjust(limit.plan, undefined, now, -Math.round(limit.capacity * MICRO), phase)
    this.write(scope, lo, empty)
    return empty
  }

  /**
   * The state with which a key begins when the store has room for it. While there was no room, calls of the key may have been charged to
   * its overflow state, so the key begins with a copy of it. A fresh state would give the key a second burst, or end a denial early.
   * Undefined if the overflow state was never used.
   */
  trace(scope: string, lo: number): unknown {
    return this.#states.size === 0 ? undefined : this.#states.get(scope)?.[cellOf(lo)]
  }

  write(scope: string, lo: number, state: unknown): void {
    let states = this.#states.get(scope)
    if (states === undefined) {
      const [oldest] = this.#states.keys()
      if (oldest !== undefined && this.#states.size >= LIMITS) this.#states.delete(oldest)
      states = []
      this.#states.set(scope, states)
    }
    states[cellOf(lo)] = state
  }
}
