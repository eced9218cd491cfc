import { onAbort } from '../time/abort-listeners.ts'
import type { MonotonicInstant, Time } from '../time/time.ts'
import { createWakeups, type Wakeup } from '../time/wakeups.ts'

export interface Sleep {
  /** How many callers wait now. */
  readonly size: number
  /**
   * Resolves with false at the instant, never early, or with true once `unless` settles. Rejects with the signal's reason when the signal
   * aborts.
   */
  until(at: MonotonicInstant, signal: AbortSignal | undefined, unless?: Promise<unknown>): Promise<boolean>
  /** Calls `resolve` at the instant, never early. Cheaper than `until`. */
  pass<T>(at: MonotonicInstant, resolve: (value: T) => void, value: T): void
}

class Passing<T> implements Wakeup {
  readonly at: MonotonicInstant
  nth = 0
  index = -1
  readonly #resolve: (value: T) => void
  readonly #value: T

  constructor(at: MonotonicInstant, resolve: (value: T) => void, value: T) {
    this.at = at
    this.#resolve = resolve
    this.#value = value
  }

  run(): void {
    this.#resolve(this.#value)
  }
}

export function createSleep(clock: Time): Sleep {
  const wakeups = createWakeups(clock)
  return {
    get size() {
      return wakeups.size
    },
    pass: (at, resolve, value) => wakeups.add(new Passing(at, resolve, value)),
    until: (at, signal, unless) =>
      new Promise<boolean>((resolve, reject) => {
        if (signal?.aborted === true) return reject(signal.reason as Error)
        const end = (settle: () => void): void => {
          wakeups.remove(entry)
          stop?.()
          settle()
        }
        const entry = new Passing<undefined>(at, () => end(() => resolve(false)), undefined)
        wakeups.add(entry)
        const stop = signal === undefined ? undefined : onAbort(signal, () => end(() => reject(signal.reason as Error)))
        const woken = (): void => end(() => resolve(true))
        void unless?.then(woken, woken)
      }),
  }
}
