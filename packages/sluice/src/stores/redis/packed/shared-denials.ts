import { MICROS_PER_MS, type Micros } from '../../../time/micros.ts'
import type { MonotonicInstant, Time } from '../../../time/time.ts'
import type { Call, Decided, Verdict } from '../../store.ts'

interface Denial {
  readonly call: Call
  readonly verdict: Decided
  readonly repliedAt: MonotonicInstant
  readonly until: MonotonicInstant
}

/** Longest time in milliseconds that a denial is cached, because another process may change a limit. */
const MAX_MS = 1_000

/**
 * A cache of denials by shared states, each until its wait is over. In a flood most shared states are empty, and need not be requested
 * again. Only denials are cached, so it never admits anything.
 */
export class SharedDenials {
  readonly #clock: Pick<Time, 'monotonic'>
  /** The last denial of each shared state, by its key. */
  readonly #known = new Map<string, Denial>()

  constructor(clock: Pick<Time, 'monotonic'>) {
    this.#clock = clock
  }

  /** The cached verdict, adjusted to the present; undefined if the store must decide. */
  find({ id: { key }, limit, cost, phase }: Call): Decided | undefined {
    const known = this.#known.get(key)
    if (known === undefined || known.call.limit !== limit || known.call.cost !== cost || known.call.phase !== phase) return undefined
    const now = this.#clock.monotonic()
    if (now >= known.until) return undefined
    const passed = Math.floor((now - known.repliedAt) * MICROS_PER_MS)
    const { verdict } = known
    const wait = verdict.retryAfter === undefined ? undefined : Math.max(0, verdict.retryAfter - passed)
    return { ...verdict, at: verdict.at + passed, retryAfter: wait, calls: verdict.calls.map((call) => later(call, passed)) }
  }

  /** @param sentAt before the call of the store, which decided no earlier */
  add(call: Call, verdict: Decided, sentAt: MonotonicInstant): void {
    const [only] = verdict.calls
    if (verdict.outcome !== 'denied' || only === undefined) return
    const until = sentAt + Math.min(MAX_MS, only.retryAfter / MICROS_PER_MS)
    this.#known.set(call.id.key, { call, verdict, repliedAt: this.#clock.monotonic(), until })
  }
}

function later({ outcome, retryAfter, remaining, replenishAfter, resetAfter }: Verdict, passed: Micros): Verdict {
  const less = (micros: Micros): Micros => Math.max(0, micros - passed)
  return { outcome, retryAfter: less(retryAfter), remaining, replenishAfter: less(replenishAfter), resetAfter: less(resetAfter) }
}
