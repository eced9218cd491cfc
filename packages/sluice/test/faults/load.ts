import type { Decision, Limiter } from '../../src/index.ts'

/** One call as its caller saw it; milliseconds of `performance.now()`. */
export interface Timed<Answer> {
  readonly started: number
  readonly ended: number
  readonly decision: Answer
  /** When a timer ran that was set together with the call, for the same deadline. Absent if the answer came first. */
  readonly timer?: number
}

export interface Sample extends Timed<Decision> {
  readonly key: string
}

export interface Load {
  /** In the order they were answered. */
  readonly samples: readonly Sample[]
  /**
   * For how many milliseconds the event loop was blocked between two instants: the longest time at once, and all together. A timer reads
   * the clock every millisecond, and only what exceeds this millisecond counts.
   */
  held(from: number, to: number): { readonly longest: number; readonly all: number }
  /**
   * Waits until the store has answered as many calls in a row as there are callers. Returns the milliseconds from now, or infinity if that
   * takes too long.
   */
  recovery(): Promise<number>
  /** Resolves once every caller has been answered. */
  stop(): Promise<void>
  /** Lets go of all samples. */
  forget(): void
}

export interface LoadOptions {
  readonly callers: number
  readonly deadlineMs: number
  /** Milliseconds between two calls of one caller; default none. */
  readonly pauseMs?: number
  /** The key of a caller; default `caller-` and its index. */
  readonly keyOf?: (index: number) => string
}

const PATIENCE_MS = 10_000

/** Starts callers, each on a key of its own. A caller makes its next call as soon as the previous one is answered, or after a pause. */
export function startLoad(limiter: Limiter, { callers, deadlineMs, pauseMs = 0, keyOf = (index) => `caller-${index}` }: LoadOptions): Load {
  const samples: Sample[] = []
  const instants: number[] = [performance.now()]
  const state = { running: true, looking: true }
  const noteInstant = (): void => {
    instants.push(performance.now())
    if (state.looking) setTimeout(noteInstant, 1)
  }
  noteInstant()

  let good = 0
  let since = 0
  let recovered: (() => void) | undefined
  const caller = async (_: unknown, index: number): Promise<void> => {
    const key = keyOf(index)
    while (state.running) {
      const sample = await withTimer(deadlineMs, () => limiter.check(key))
      const { started, decision } = sample
      samples.push({ key, ...sample })
      if (started >= since) {
        good = decision.source === 'store' && decision.degraded === undefined ? good + 1 : 0
        if (good >= callers) recovered?.()
      }
      // A refusal without a round trip is answered at once. Without this wait, callers that call again at once would keep everything else
      // from running.
      await new Promise((resolve) => (pauseMs === 0 ? setImmediate(resolve) : setTimeout(resolve, pauseMs)))
    }
  }
  const done = Promise.all(Array.from({ length: callers }, caller))
  return {
    samples,
    held: (from, to) => {
      let [longest, all] = [0, 0]
      for (let index = firstAfter(instants, from); index < instants.length && (instants[index - 1] as number) < to; index += 1) {
        const overlap = Math.min(instants[index] as number, to) - Math.max(instants[index - 1] as number, from)
        const lag = Math.max(0, overlap - 1)
        longest = Math.max(longest, lag)
        all += lag
      }
      return { longest, all }
    },
    recovery: async () => {
      good = 0
      since = performance.now()
      return new Promise<number>((resolve) => {
        const patience = setTimeout(() => resolve(Number.POSITIVE_INFINITY), PATIENCE_MS)
        recovered = () => {
          clearTimeout(patience)
          resolve(performance.now() - since)
        }
      })
    },
    stop: async () => {
      state.running = false
      await done
      state.looking = false
      instants.push(performance.now())
    },
    forget: () => {
      samples.length = 0
      instants.length = 1
    },
  }
}

/**
 * Makes a call, and sets a timer for the same deadline. If the event loop is blocked, both are late. So the lateness of the timer is not
 * the call's fault.
 */
export async function withTimer<Answer>(deadlineMs: number, call: () => Promise<Answer>): Promise<Timed<Answer>> {
  let ran: { timer?: number } = {}
  const started = performance.now()
  const timer = setTimeout(() => (ran = { timer: performance.now() }), deadlineMs)
  const decision = await call()
  clearTimeout(timer)
  return { started, ended: performance.now(), decision, ...ran }
}

/**
 * By how many milliseconds an answer was late beyond what this process explains: the lateness of the call's timer, and the time for which
 * the event loop was blocked after that.
 */
export function excessOf({ started, ended, timer = ended }: Timed<unknown>, deadlineMs: number, load: Load): number {
  const due = Math.max(started + deadlineMs, Math.min(timer, ended))
  return ended - due - load.held(due, ended).all
}

export interface Punctuality {
  readonly calls: number
  /** By how many milliseconds the latest answer came after its deadline. Below 0 if no answer was late. */
  readonly lateness: number
  /** The lateness that all but one in a hundred calls stayed below or reached. */
  readonly usual: number
  /** The longest the event loop was held meanwhile. */
  readonly lag: number
  /** The most of `excessOf`. */
  readonly excess: number
}

/** How late the answers were to calls that began between two instants, and how much of that this process's own event loop explains. */
export function punctuality(load: Load, from: number, to: number, deadlineMs: number): Punctuality {
  const sent = load.samples.filter(({ started }) => started >= from && started <= to)
  const late = sent.map(({ started, ended }) => ended - started - deadlineMs).sort((a, b) => a - b)
  const end = sent.reduce((last, { ended }) => Math.max(last, ended), to)
  const excess = sent.map((sample) => excessOf(sample, deadlineMs, load))
  return {
    calls: sent.length,
    lateness: late.at(-1) ?? Number.NaN,
    usual: late[Math.floor(late.length * 0.99)] ?? Number.NaN,
    lag: load.held(from, end).longest,
    excess: excess.reduce((worst, value) => Math.max(worst, value), Number.NEGATIVE_INFINITY),
  }
}

/** Finds, by binary search, the index of the first of the rising numbers that is above a value. */
function firstAfter(rising: readonly number[], value: number): number {
  let [low, high] = [1, rising.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((rising[middle] as number) > value) high = middle
    else low = middle + 1
  }
  return low
}
