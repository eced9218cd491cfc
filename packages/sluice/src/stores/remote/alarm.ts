import type { Deadline, Deadlines } from '../../time/deadlines.ts'
import type { MonotonicInstant } from '../../time/time.ts'

/** In milliseconds: an alarm that is due this soon is not cancelled, because the next call may need it. */
const SOON_MS = 100
const NEVER = Number.POSITIVE_INFINITY

/** A batcher's one timer: set to the earliest instant requested. */
export class Alarm {
  readonly #deadlines: Deadlines
  readonly #act: () => void
  #at: MonotonicInstant = NEVER
  #deadline: Deadline | undefined

  constructor(deadlines: Deadlines, act: () => void) {
    this.#deadlines = deadlines
    this.#act = act
  }

  /** Sets the alarm, unless it is set to an earlier instant. */
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
