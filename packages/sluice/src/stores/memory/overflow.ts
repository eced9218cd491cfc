import type { AnyLimit } from '../../algorithms/algorithm.ts'
import { MICRO } from '../../algorithms/decimal.ts'
import type { Micros } from '../../time/micros.ts'

const STATES = 1_024
/** The most limits with overflow states. If another limit needs some, those of the limit that has had them longest are dropped. */
const LIMITS = 256

/** The index of the overflow state that a key of a limit has, from the lower half of the key's digest. */
export function cellOf(lo: number): number {
  return lo & (STATES - 1)
}

/** Overflow states: states that keys share for which there is no room. Each limit has up to 1,024, created on first use. */
export class Overflow {
  readonly #states = new Map<string, unknown[]>()

  /**
   * The overflow state that decides for a key without a state of its own. A new one starts empty, so that a flood of new keys gets no
   * burst.
   */
  read(scope: string, lo: number, limit: AnyLimit, now: Micros, phase: number): unknown {
    const known = this.trace(scope, lo)
    if (known !== undefined) return known
    const empty = limit.algorithm.adjust(limit.plan, undefined, now, -Math.round(limit.capacity * MICRO), phase)
    this.write(scope, lo, empty)
    return empty
  }

  /**
   * The state with which a key begins when there is room for it. The key may have been charged to its overflow state, so it begins with a
   * copy of that. A fresh state would give the key a second burst, or end a denial early. Undefined if the overflow state was never used.
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
