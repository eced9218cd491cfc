import type { Cancel, MonotonicInstant, Time } from './time.ts'

/**
 * If no deadline is left, a timer due within this time stays set, so that the next call can share it. Node.js then exits at most this much
 * later.
 */
const SOON_MS = 100

export interface Bounds {
  readonly deadline?: MonotonicInstant
  readonly signal?: AbortSignal
}

/** Also its own link in a circular list. */
export class Deadline {
  before: Deadline = this
  after: Deadline = this
  readonly at: MonotonicInstant
  /** Undefined once it has run or was cancelled. */
  fn: (() => void) | undefined
  readonly #cancel: (deadline: Deadline) => void

  constructor(at: MonotonicInstant, fn: (() => void) | undefined, cancel: (deadline: Deadline) => void) {
    this.at = at
    this.fn = fn
    this.#cancel = cancel
  }

  /** No effect if it was cancelled before or has passed. */
  cancel(): void {
    if (this.fn !== undefined) this.#cancel(this)
  }
}

/** One timer for many deadlines: a call that is answered in time needs no timer of its own. */
export interface Deadlines {
  /** Runs `fn` at the deadline unless it is cancelled before. */
  add(at: MonotonicInstant, fn: () => void): Deadline
  /**
   * Settles as `call` does. If the deadline passes or the signal aborts first, rejects with what `late` returns, and drops a later result.
   */
  within<T>(bounds: Bounds, call: Promise<T>, late: (why: 'timeout' | 'aborted') => unknown): Promise<T>
}

/**
 * A circular list and not a Set. With many concurrent calls, garbage collection of a Set's discarded internal tables and their entries
 * takes longer than the calls themselves.
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
    // A removed entry must not keep later entries in memory.
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
    within: (bounds, call, late) => settledWithin(add, bounds, call, late),
  }
}

function settledWithin<T>(
  add: Deadlines['add'],
  { deadline, signal }: Bounds,
  call: Promise<T>,
  late: (why: 'timeout' | 'aborted') => unknown,
): Promise<T> {
  return new Promise((resolve, reject) => {
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
  })
}
