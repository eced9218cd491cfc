import type { Cancel, MonotonicInstant, Random, Time } from '../../time/time.ts'
import { StoreFailure, type StoreFailureKind } from '../store.ts'

export interface BreakerOptions {
  /** Failed calls after which it opens: at least half of all within the window, or in a row over at least that long. Default 3. */
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
export type Breaker = ReturnType<typeof createBreaker>

export interface BreakerParts extends Required<BreakerOptions> {
  /** Of the store, for messages. */
  readonly name: string
  readonly clock: Time
  readonly random: Random
  /** A call that charges nothing; resolves with whether the server works. */
  readonly probe: (deadlineMs: number) => Promise<boolean>
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
 * A circuit breaker (Nygard, Release It!). It opens for failures that are at least half of the calls within the window, so that one reset
 * connection of a busy server does not open it; and, because few calls are within a window where few are made, for as many failures in a row
 * over at least the window. Denials are successes. While it is open, calls are refused at once as `unavailable`, not executed.
 */
export function createBreaker({ name, clock, random, failures, windowMs, probeMs, deadlineMs, probe, onOpen }: BreakerParts) {
  let state: BreakerState = 'closed'
  let refusal: StoreFailure | undefined
  /** Counts of this half of the window and of the half before it. */
  let [good, bad, goodBefore, badBefore] = [0, 0, 0, 0]
  let since: MonotonicInstant = clock.monotonic()
  /** Failures in a row, and when the first of them was. */
  let [run, runSince] = [0, 0]
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
    probeLater()
  }
  const probeLater = (): void => {
    if (next === undefined && !closed) next = clock.after(probeMs * (0.5 + random() / 2), () => void runProbe())
  }
  /** Probes, unless nobody calls any more: then the next call decides. */
  const runProbe = async (): Promise<void> => {
    const isUnused = clock.monotonic() - usedAt > UNUSED_MS
    const isHealthy = isUnused || (await probe(deadlineMs).catch(() => false))
    next = undefined
    if (!isHealthy) return probeLater()
    state = 'half-open'
    refusal = undefined
  }
  return {
    get state(): BreakerState {
      return state
    },
    /** Why calls are refused now; undefined: they pass. */
    refusal(): StoreFailure | undefined {
      if (refusal !== undefined) usedAt = clock.monotonic()
      return refusal
    },
    succeeded(): void {
      if (state === 'half-open') {
        state = 'closed'
        ;[good, bad, goodBefore, badBefore] = [0, 0, 0, 0]
      }
      roll(clock.monotonic())
      good += 1
      run = 0
    },
    failed(failure: StoreFailure): void {
      if (NOT_THE_SERVER.has(failure.kind) || state === 'open') return
      if (state === 'half-open') return open(failure)
      usedAt = clock.monotonic()
      roll(usedAt)
      bad += 1
      run += 1
      if (run === 1) runSince = usedAt
      const isMany = bad + badBefore >= failures && bad + badBefore >= good + goodBefore
      if (isMany || (run >= failures && usedAt - runSince >= windowMs)) open(failure)
    },
    /** Stops probing. */
    close(): void {
      closed = true
      next?.()
      next = undefined
    },
  }
}
