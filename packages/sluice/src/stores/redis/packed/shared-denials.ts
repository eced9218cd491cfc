import { MICROS_PER_MS, type Micros } from '../../../time/micros.ts'
import type { MonotonicInstant, Time } from '../../../time/time.ts'
import type { Call, Decided, Verdict } from '../../store.ts'

interface Denial {
  readonly call: Call
  readonly verdict: Decided
  readonly repliedAt: MonotonicInstant
  readonly until: MonotonicInstant
}

/** The longest time that a denial is cached, because another process may change the limit. */
const MAX_MS = 1_000

/**
 * Caches denials by the states that keys beyond `maxNewKeys` share, so that a flood of keys needs few requests. Only denials are cached, so
 * the cache never admits a call.
 */
export class SharedDenials {
  readonly #clock: Pick<Time, 'monotonic'>
  /** By the key of the shared state. */
  readonly #known = new Map<string, Denial>()

  constructor(clock: Pick<Time, 'monotonic'>) {
    this.#clock = clock
  }

  /** The cached verdict, its waits reduced by the time since; undefined if the store must decide. */
  find({ id: { key }, limit, cost, phase }: Call): Decided | undefined {
    const known = this.#known.get(key)
    const now = this.#clock.monotonic()
    if (known === undefined || now >= known.until) return undefined
    if (known.call.limit !== limit || known.call.cost !== cost || known.call.phase !== phase) return undefined
    const passed = Math.floor((now - known.repliedAt) * MICROS_PER_MS)
    const { verdict } = known
    const retryAfter = verdict.retryAfter === undefined ? undefined : Math.max(0, verdict.retryAfter - passed)
    const calls = verdict.calls.map((call) => later(call, passed))
    return { ...verdict, at: verdict.at + passed, retryAfter, calls }
  }

  /** @param sentAt an instant before the store was called, so that a cached denial never outlasts its wait */
  add(call: Call, verdict: Decided, sentAt: MonotonicInstant): void {
    const [only] = verdict.calls
    if (verdict.outcome !== 'denied' || only === undefined) return
    const until = sentAt + Math.min(MAX_MS, only.retryAfter / MICROS_PER_MS)
    this.#known.set(call.id.key, { call, verdict, repliedAt: this.#clock.monotonic(), until })
  }
}

function later({ outcome, retryAfter, remaining, replenishAfter, resetAfter }: Verdict, passed: Micros): Verdict {
  const less = (micros: Micros): Micros => Math.max(0, micros - passed)
  const waits = { retryAfter: less(retryAfter), replenishAfter: less(replenishAfter), resetAfter: less(resetAfter) }
  return { outcome, remaining, ...waits }
}
