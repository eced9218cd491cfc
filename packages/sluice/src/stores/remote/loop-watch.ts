import type { MonotonicInstant, Time } from '../../time/time.ts'

/**
 * Notices that callers who are answered in microtasks keep the event loop from reading a reply. While a reply is awaited, a timer of 1 ms
 * shows that the loop turns: as long as it does, a slow reply delays nobody.
 */
export class LoopWatch {
  readonly #clock: Time
  #awaited = 0
  #turnedAt: MonotonicInstant = 0
  #turn: Promise<void> | undefined

  constructor(clock: Time) {
    this.#clock = clock
  }

  /** Watches the loop until the reply is read. */
  during<T>(reply: Promise<T>): Promise<T> {
    if (this.#awaited === 0) this.#turnedAt = this.#clock.monotonic()
    this.#awaited += 1
    void this.turned()
    return reply.finally(() => (this.#awaited -= 1))
  }

  /** Whether a reply is awaited and the loop has not turned for 2 ms. */
  starved(now: MonotonicInstant): boolean {
    return this.#awaited > 0 && now - this.#turnedAt > 2
  }

  /** Resolves when the loop has turned: one promise for all who wait. */
  turned(): Promise<void> {
    const tick = (resolve: () => void): void => {
      this.#turnedAt = this.#clock.monotonic()
      this.#turn = undefined
      if (this.#awaited > 0) void this.turned()
      resolve()
    }
    return (this.#turn ??= new Promise((resolve) => void this.#clock.after(1, () => tick(resolve))))
  }
}
