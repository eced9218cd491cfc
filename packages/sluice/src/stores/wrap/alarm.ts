import type { Cancel, MonotonicInstant, Time } from '../../time/time.ts'

const never = Number.POSITIVE_INFINITY

/** One timer for many deadlines: it rings at the nearest of those it was told, and must be told the others again. */
export class Alarm {
  readonly #clock: Time
  readonly #ring: () => void
  #at: MonotonicInstant = never
  #cancel: Cancel | undefined

  constructor(clock: Time, ring: () => void) {
    this.#clock = clock
    this.#ring = ring
  }

  tell(deadline: MonotonicInstant | undefined): void {
    if (deadline === undefined || deadline >= this.#at) return
    this.#cancel?.()
    this.#at = deadline
    this.#cancel = this.#clock.after(Math.max(0, Math.ceil(deadline - this.#clock.monotonic())), () => {
      this.#at = never
      this.#cancel = undefined
      this.#ring()
    })
  }

  stop(): void {
    this.#cancel?.()
    this.#cancel = undefined
    this.#at = never
  }
}
