import { checkOptions, CLOCK, COUNT, type Form, FUNCTION, MILLISECONDS, requireForm, STORE } from '../../errors/options.ts'
import { systemRandom, systemTime } from '../../time/system.ts'
import type { Cancel, MonotonicInstant, Random, Time } from '../../time/time.ts'
import { type CallOptions, type Store, StoreFailure, type StoreFailureKind } from '../store.ts'
import { eachCall } from './each-call.ts'

export interface BreakerOptions {
  /** Failures after which it opens, where they are at least half of the answers within `windowMs`. Default 3. */
  readonly failures?: number
  /** Milliseconds from the first failure on; default 200. */
  readonly windowMs?: number
  /** Milliseconds between looks at a store that failed, half as many at least, at random; default 250. */
  readonly probeMs?: number
  /** Milliseconds that a look may take: as long as calls have, or a store that is too slow would seem well. Default 50. */
  readonly deadlineMs?: number
  readonly clock?: Time
  readonly random?: Random
}

/**
 * `closed`: the store is asked. `open`: it is not, and looked at now and then. `half-open`: it looked well, and one call tries; the
 * others are refused until it has been answered.
 */
export type BreakerState = 'closed' | 'open' | 'half-open'

export interface BreakerStore extends Store {
  readonly breakerState: BreakerState
}

const FORMS: Readonly<Record<string, Form>> = {
  failures: COUNT,
  windowMs: MILLISECONDS,
  probeMs: MILLISECONDS,
  deadlineMs: MILLISECONDS,
  clock: CLOCK,
  random: FUNCTION,
}
/** What says nothing about the store: the caller left, or asked too much at once, or somebody else was quicker. */
const NOT_THE_STORE: ReadonlySet<StoreFailureKind> = new Set(['aborted', 'overload', 'contention'])
/** Nobody has asked for so long: no more looks until somebody does. */
const UNWANTED_MS = 60_000

/**
 * Stops asking a store that fails, and asks it again when it is back, so that callers of a dead store wait for it three times and not each time. While
 * it is open calls are refused at once as `unavailable`, unexecuted, and one look at a time (`ready`) is had at the store, at random intervals so
 * that many processes do not return at once. Denials are answers; only failures of the store count, and no time-out of a caller who was late himself. Bound G: that
 * of the store; what refused calls become is `withFallback`'s.
 * @throws LimiterError INVALID_OPTIONS
 */
export function withBreaker(store: Store, options: BreakerOptions = {}): BreakerStore {
  requireForm('withBreaker', 'store', store, STORE)
  checkOptions('withBreaker', options, FORMS)
  const { failures = 3, windowMs = 200, probeMs = 250, deadlineMs = 50, clock = systemTime, random = systemRandom } = options
  const name = store.name ?? 'store'
  let state: BreakerState = 'closed'
  /** The one that all are refused with: an error costs more than a refusal. */
  let refusal = new StoreFailure('unavailable', 'no', `${name}: not asked`)
  let trying = false
  let [good, bad, since] = [0, 0, 0]
  let askedAt: MonotonicInstant = 0
  let next: Cancel | undefined
  let closed = false

  const open = (cause: StoreFailure): void => {
    state = 'open'
    refusal = new StoreFailure('unavailable', 'no', `${name}: not asked, for it failed (${cause.message})`, { cause })
    look()
  }
  const heal = (): void => {
    state = 'closed'
    good = 0
    bad = 0
  }
  /** Looks at the store after a while, as long as it is open and somebody wants it. */
  const look = (): void => {
    if (next !== undefined || closed) return
    next = clock.after(probeMs * (0.5 + random() / 2), () => {
      const now = clock.monotonic()
      if (now - askedAt > UNWANTED_MS) {
        next = undefined
        state = 'half-open'
        return
      }
      store.ready({ deadline: now + deadlineMs }).then(
        () => {
          next = undefined
          if (state === 'open') state = 'half-open'
        },
        () => {
          next = undefined
          look()
        },
      )
    })
  }
  const failed = (error: unknown, startedAt: MonotonicInstant, deadline: MonotonicInstant | undefined): void => {
    const late = deadline !== undefined && deadline <= startedAt
    if (!(error instanceof StoreFailure) || NOT_THE_STORE.has(error.kind) || late || state !== 'closed') return
    const now = clock.monotonic()
    if (now - since > windowMs) {
      good = 0
      bad = 0
      since = now
    }
    bad += 1
    if (bad >= failures && bad >= good) open(error)
  }
  /** The one call that tries whether a store that looks well is. */
  const trial = async <T>(ask: () => Promise<T>, startedAt: MonotonicInstant, deadline: MonotonicInstant | undefined): Promise<T> => {
    trying = true
    try {
      const answer = await ask()
      if (state === 'half-open') heal()
      return answer
    } catch (error) {
      const late = deadline !== undefined && deadline <= startedAt
      if (state === 'half-open' && error instanceof StoreFailure && !late && !NOT_THE_STORE.has(error.kind)) open(error)
      throw error
    } finally {
      trying = false
    }
  }
  const guarded = <T>(callOptions: CallOptions | undefined, ask: () => Promise<T>): Promise<T> => {
    const startedAt = clock.monotonic()
    askedAt = startedAt
    const deadline = callOptions?.deadline
    if (state !== 'closed') {
      if (state === 'half-open' && !trying) return trial(ask, startedAt, deadline)
      return Promise.reject(refusal)
    }
    return ask().then(
      (answer) => {
        good += 1
        return answer
      },
      (error: unknown) => {
        failed(error, startedAt, deadline)
        throw error
      },
    )
  }
  const guardedStore = eachCall(store, (operation, callOptions, send) =>
    // Whether it is ready is how it is looked at.
    operation === 'ready' ? send(callOptions) : guarded(callOptions, () => send(callOptions)),
  )
  return {
    ...guardedStore,
    get breakerState() {
      return state
    },
    close: () => {
      closed = true
      next?.()
      next = undefined
      return store.close()
    },
  }
}
