import type { AnyLimit } from '../../algorithms/algorithm.ts'
import { MICRO } from '../../algorithms/decimal.ts'
import type { Micros } from '../../time/micros.ts'

const STATES = 1_024
/** The most limits with shared states. One limit more takes the place of the limit that has had such states longest. */
const LIMITS = 256

/** Which of its limit's shared states a key has, by the lower half of its hash. */
export function cellOf(lo: number): number {
  return lo & (STATES - 1)
}

/** States that keys without room share: up to 1,024 for each limit, created on first use. */
export class Overflow {
  readonly #states = new Map<string, unknown[]>()

  /** The shared state that replaces a key's own. It starts empty, so that a flood of new keys brings no burst. */
  read(scope: string, lo: number, limit: AnyLimit, now: Micros, phase: number): unknown {
    const known = this.trace(scope, lo)
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
