import type { AnyLimit } from '../../algorithms/algorithm.ts'
import { MICRO } from '../../algorithms/decimal.ts'
import type { Micros } from '../../time/micros.ts'

const STATES = 1_024
/** The most limits with overflow states. One more replaces the oldest. */
const LIMITS = 256

/** The index of a key's overflow state. */
export function cellOf(lo: number): number {
  return lo & (STATES - 1)
}

/** Up to 1,024 states for each limit, shared by keys for which the store has no room. */
export class Overflow {
  readonly #states = new Map<string, unknown[]>()

  /**
   * A new overflow state starts without tokens, so that a flood of new keys gets no burst.
   * @param isPeek a new state is not kept: it would refill from now on
   */
  read(scope: string, lo: number, limit: AnyLimit, now: Micros, phase: number, isPeek: boolean): unknown {
    const known = this.trace(scope, lo)
    if (known !== undefined) return known
    const empty = limit.algorithm.adjust(limit.plan, undefined, now, -Math.round(limit.capacity * MICRO), phase)
    if (!isPeek) this.write(scope, lo, empty)
    return empty
  }

  /**
   * The overflow state, with a copy of which a key begins when there is room. A fresh state would give the key a second burst, or end a
   * denial early. Undefined if it was never used.
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
