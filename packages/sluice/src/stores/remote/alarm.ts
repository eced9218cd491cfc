import type { Cancel, MonotonicInstant, Time } from '../../time/time.ts'

/** A timer due within this many milliseconds is not cleared when nobody needs it any more, although the process waits for it. */
const SOON_MS = 100
const NEVER = Number.POSITIVE_INFINITY

/** One timer for many deadlines, set to the earliest. After it fires, callers register again. */
export class Alarm {
  readonly #clock: Time
  readonly #ring: () => void
  #at: MonotonicInstant = NEVER
  #cancel: Cancel | undefined

  constructor(clock: Time, ring: () => void) {
    this.#clock = clock
    this.#ring = ring
  }

  register(deadline: MonotonicInstant): void {
    if (deadline >= this.#at) return
    this.#cancel?.()
    this.#at = deadline
    this.#cancel = this.#clock.after(Math.max(0, Math.ceil(deadline - this.#clock.monotonic())), () => {
      this.#at = NEVER
      this.#cancel = undefined
      this.#ring()
    })
  }

  /** Nobody waits any more. */
  rest(): void {
    if (this.#at - this.#clock.monotonic() <= SOON_MS || this.#at === NEVER) return
    this.#cancel?.()
    this.#cancel = undefined
    this.#at = NEVER
  }
}
