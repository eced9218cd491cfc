import type { Cancel, MonotonicInstant, Time } from './time.ts'

/** A timer due within this many milliseconds is not cleared when nobody needs it any more, although Node.js does not exit before it has run. */
const SOON_MS = 100

export interface Bounds {
  readonly deadline?: MonotonicInstant
  readonly signal?: AbortSignal
}

/** A deadline that was added: a link of a circular list. */
export class Deadline {
  before: Deadline = this
  after: Deadline = this
  readonly at: MonotonicInstant
  /** Undefined once it has run or is cancelled. */
  fn: (() => void) | undefined
  readonly #cancel: (deadline: Deadline) => void

  constructor(at: MonotonicInstant, fn: (() => void) | undefined, cancel: (deadline: Deadline) => void) {
    this.at = at
    this.fn = fn
    this.#cancel = cancel
  }

  /** Again, or too late, it has no effect. */
  cancel(): void {
    if (this.fn !== undefined) this.#cancel(this)
  }
}

/** Many deadlines on one timer: a call that is answered in time needs no timer of its own. */
export interface Deadlines {
  /** Runs `fn` at the deadline unless it is cancelled before. */
  add(at: MonotonicInstant, fn: () => void): Deadline
  /**
   * Settles as the call does; or, if the deadline passes or the signal aborts first, rejects with what `late` returns. A late answer is
   * dropped.
   */
  within<T>(bounds: Bounds, call: Promise<T>, late: (why: 'timeout' | 'aborted') => unknown): Promise<T>
}

/**
 * A circular list of deadlines; the timer is set for the earliest. Sequential calls reuse the timer of an earlier call instead of setting and
 * clearing one each. Not a Set: its discarded tables keep what was in them alive, and with many calls at once that costs more than the calls.
 */
export function createDeadlines(time: Time): Deadlines {
  let stop: Cancel | undefined
  let armedFor = Infinity

  const disarm = (): void => {
    stop?.()
    stop = undefined
    armedFor = Infinity
  }
  const arm = (at: MonotonicInstant): void => {
    if (at >= armedFor) return
    disarm()
    armedFor = at
    stop = time.after(Math.max(0, Math.ceil(at - time.monotonic())), fire)
  }
  const remove = (entry: Deadline): void => {
    entry.fn = undefined
    entry.before.after = entry.after
    entry.after.before = entry.before
    // An old entry must not keep younger ones alive.
    entry.before = entry
    entry.after = entry
  }
  const cancel = (entry: Deadline): void => {
    remove(entry)
    if (end.after === end && armedFor - time.monotonic() > SOON_MS) disarm()
  }
  const fire = (): void => {
    stop = undefined
    armedFor = Infinity
    const now = time.monotonic()
    const due: Deadline[] = []
    let next = Infinity
    for (let entry = end.after; entry !== end; entry = entry.after) {
      if (entry.at <= now) due.push(entry)
      else next = Math.min(next, entry.at)
    }
    for (const entry of due) {
      const { fn } = entry
      if (fn !== undefined) remove(entry)
      fn?.()
    }
    arm(next)
  }
  const end = new Deadline(Infinity, undefined, cancel)
  const add = (at: MonotonicInstant, fn: () => void): Deadline => {
    const entry = new Deadline(at, fn, cancel)
    entry.before = end.before
    entry.after = end
    end.before.after = entry
    end.before = entry
    arm(at)
    return entry
  }
  return {
    add,
    within: ({ deadline, signal }, call, late) =>
      new Promise((resolve, reject) => {
        const leave = (why: 'timeout' | 'aborted'): void => {
          release()
          reject(late(why))
        }
        const entry = deadline === undefined ? undefined : add(deadline, () => leave('timeout'))
        const abort = signal && ((): void => leave('aborted'))
        if (abort !== undefined) signal?.addEventListener('abort', abort)
        const release = (): void => {
          entry?.cancel()
          if (abort !== undefined) signal?.removeEventListener('abort', abort)
        }
        call.then(
          (answer) => {
            release()
            resolve(answer)
          },
          (error: unknown) => {
            release()
            reject(error)
          },
        )
      }),
  }
}
