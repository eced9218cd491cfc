import type { Deadline, Deadlines } from '../../time/deadlines.ts'
import type { MonotonicInstant } from '../../time/time.ts'

/** Milliseconds. If nobody needs the alarm any more, it stays set if it is due within this time, because the next call may need it. */
const SOON_MS = 100
const NEVER = Number.POSITIVE_INFINITY

/** The one timer of a batcher: it is set for the earliest instant at which the batcher must act. */
export class Alarm {
  readonly #deadlines: Deadlines
  readonly #act: () => void
  #at: MonotonicInstant = NEVER
  #deadline: Deadline | undefined

  /** @param act called at the instant */
  constructor(deadlines: Deadlines, act: () => void) {
    this.#deadlines = deadlines
    this.#act = act
  }

  /** Sets the alarm to this instant, unless it is set to an earlier one. */
  set(at: MonotonicInstant): void {
    if (at >= this.#at) return
    this.#deadline?.cancel()
    this.#at = at
    this.#deadline = this.#deadlines.add(at, () => {
      this.#at = NEVER
      this.#act()
    })
  }

  /** To be called when nobody needs the alarm. */
  rest(now: MonotonicInstant): void {
    if (this.#at === NEVER || this.#at - now <= SOON_MS) return
    this.#deadline?.cancel()
    this.#at = NEVER
  }
}
