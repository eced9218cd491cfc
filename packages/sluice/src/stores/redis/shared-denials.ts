import { MICROS_PER_MS, type Micros } from '../../time/micros.ts'
import type { MonotonicInstant, Time } from '../../time/time.ts'
import type { Call, GroupVerdict, Verdict } from '../store.ts'

interface Denial {
  readonly call: Call
  readonly verdict: GroupVerdict
  readonly heardAt: MonotonicInstant
  readonly until: MonotonicInstant
}

/** Milliseconds that a denial is remembered at most: another process may change what a limit is. */
const MAX_MS = 1_000

/**
 * Denials of shared states, remembered until waiting was enough: in a flood most shared states are empty, and need not be asked again. Only denials are
 * remembered, so that nothing passes because of it.
 */
export class SharedDenials {
  readonly #clock: Pick<Time, 'monotonic'>
  /** By the key of a shared state, the last denial of it. */
  readonly #known = new Map<string, Denial>()

  constructor(clock: Pick<Time, 'monotonic'>) {
    this.#clock = clock
  }

  /** The verdict as it stands now; undefined where the store must be asked. */
  find({ id: { key }, limit, cost, phase }: Call): GroupVerdict | undefined {
    const known = this.#known.get(key)
    if (known === undefined || known.call.limit !== limit || known.call.cost !== cost || known.call.phase !== phase) return undefined
    const now = this.#clock.monotonic()
    if (now >= known.until) return undefined
    const passed = Math.floor((now - known.heardAt) * MICROS_PER_MS)
    const { verdict } = known
    const wait = verdict.retryAfter === undefined ? undefined : Math.max(0, verdict.retryAfter - passed)
    return { ...verdict, at: verdict.at + passed, retryAfter: wait, calls: verdict.calls.map((call) => later(call, passed)) }
  }

  /** @param askedAt before the store was asked: it decided no earlier */
  add(call: Call, verdict: GroupVerdict, askedAt: MonotonicInstant): void {
    const [only] = verdict.calls
    if (verdict.outcome !== 'denied' || only === undefined) return
    const until = askedAt + Math.min(MAX_MS, only.retryAfter / MICROS_PER_MS)
    this.#known.set(call.id.key, { call, verdict, heardAt: this.#clock.monotonic(), until })
  }
}

function later({ outcome, retryAfter, remaining, replenishAfter, resetAfter }: Verdict, passed: Micros): Verdict {
  const less = (micros: Micros): Micros => Math.max(0, micros - passed)
  return { outcome, retryAfter: less(retryAfter), remaining, replenishAfter: less(replenishAfter), resetAfter: less(resetAfter) }
}
