import type { Cancel, MonotonicInstant, Random, Time } from '../../time/time.ts'
import { StoreFailure, type StoreFailureKind } from '../store.ts'

export interface BreakerOptions {
  /** Failed calls within the window after which it opens, if they are at least half of all. Default 3. */
  readonly failures?: number
  /** Milliseconds over which calls that failed and calls that succeeded are counted; default 200. */
  readonly windowMs?: number
  /** Milliseconds between probes of a failed server, at random between half of it and all; default 250. */
  readonly probeMs?: number
  /** Milliseconds that a probe may take; default the ring's deadline. A server that is slower counts as failed. */
  readonly deadlineMs?: number
}

/** `closed`: calls pass. `open`: calls are refused, and the server is probed. `half-open`: a probe succeeded; the next call decides. */
export type BreakerState = 'closed' | 'open' | 'half-open'

/** Counts the calls to one server, and stops them while it fails. */
export interface Breaker {
  readonly state: BreakerState
  /** Why calls are refused now; undefined: they pass. */
  refusal(): StoreFailure | undefined
  succeeded(): void
  failed(failure: StoreFailure): void
  /** Stops probing. */
  close(): void
}

export interface BreakerParts extends Required<Omit<BreakerOptions, 'deadlineMs'>> {
  /** Of the store, for messages. */
  readonly name: string
  readonly clock: Time
  readonly random: Random
  /** A call that charges nothing; rejects if the server fails. */
  readonly probe: () => Promise<unknown>
  /** Called when it opens. */
  readonly onOpen: (refusal: StoreFailure) => void
}

/**
 * Failures that say nothing about the server: the caller left, too many calls are in flight, another caller holds the row, or there is no
 * room for new keys.
 */
const NOT_THE_SERVER: ReadonlySet<StoreFailureKind> = new Set(['aborted', 'overload', 'contention', 'memory'])
/** After this long without calls, probing stops. */
const UNUSED_MS = 60_000

/**
 * A circuit breaker (Nygard, Release It!) over a window that counts successes as well as failures: one reset connection does not open it.
 * Denials are successes. While it is open, calls are refused at once as `unavailable`, not executed.
 */
export function createBreaker({ name, clock, random, failures, windowMs, probeMs, probe, onOpen }: BreakerParts): Breaker {
  let state: BreakerState = 'closed'
  let refusal: StoreFailure | undefined
  /** Counts of this half of the window and of the half before it. */
  let [good, bad, goodBefore, badBefore] = [0, 0, 0, 0]
  let since: MonotonicInstant = clock.monotonic()
  let usedAt: MonotonicInstant = since
  let next: Cancel | undefined
  let closed = false

  const roll = (now: MonotonicInstant): void => {
    const halves = Math.floor((now - since) / (windowMs / 2))
    if (halves === 0) return
    ;[goodBefore, badBefore] = halves === 1 ? [good, bad] : [0, 0]
    good = 0
    bad = 0
    since += (halves * windowMs) / 2
  }
  const open = (cause: StoreFailure): void => {
    state = 'open'
    // One error for all refusals: an error costs more than a refusal.
    refusal = new StoreFailure('unavailable', 'no', `${name}: not called, because it failed (${cause.message})`, { cause })
    onOpen(refusal)
    wait()
  }
  const wait = (): void => {
    if (next !== undefined || closed) return
    next = clock.after(probeMs * (0.5 + random() / 2), () => {
      const done = (healthy: boolean): void => {
        next = undefined
        if (state !== 'open') return
        if (healthy) admit()
        else wait()
      }
      if (clock.monotonic() - usedAt > UNUSED_MS) done(true)
      else
        probe().then(
          () => done(true),
          () => done(false),
        )
    })
  }
  const admit = (): void => {
    state = 'half-open'
    refusal = undefined
  }
  return {
    get state() {
      return state
    },
    refusal() {
      if (refusal !== undefined) usedAt = clock.monotonic()
      return refusal
    },
    succeeded() {
      if (state === 'half-open') {
        state = 'closed'
        ;[good, bad, goodBefore, badBefore] = [0, 0, 0, 0]
      }
      roll(clock.monotonic())
      good += 1
    },
    failed(failure) {
      if (NOT_THE_SERVER.has(failure.kind) || state === 'open') return
      if (state === 'half-open') return open(failure)
      usedAt = clock.monotonic()
      roll(usedAt)
      bad += 1
      if (bad + badBefore >= failures && bad + badBefore >= good + goodBefore) open(failure)
    },
    close() {
      closed = true
      next?.()
      next = undefined
    },
  }
}
