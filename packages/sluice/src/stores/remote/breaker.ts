import type { Cancel, MonotonicInstant, Random, Time } from '../../time/time.ts'
import { StoreFailure, type StoreFailureKind } from '../store.ts'

/** When the breaker opens, and how often a failed server is probed. */
export interface BreakerOptions {
  /**
   * This many failed calls open the breaker in two cases: they are at least half of all calls in the window, or the calls have only failed
   * for at least one window's length. Default 3.
   */
  readonly failures?: number
  /** Milliseconds over which calls that failed and calls that succeeded are counted; default 200. */
  readonly windowMs?: number
  /**
   * Milliseconds between probes of a failed server. Each pause is drawn at random between half of this number and all of it. Default 250.
   */
  readonly probeMs?: number
  /** Milliseconds that a probe may take; default the ring's deadline. A server that is slower counts as failed. */
  readonly deadlineMs?: number
  /** Called synchronously at each change of a breaker's state, so it must be quick. Errors that it throws are dropped. */
  readonly onChange?: (change: BreakerChange) => void
}

/** A change of a breaker's state. */
export interface BreakerChange {
  /** Name of the store. */
  readonly store: string
  /** What `laneOf` of the store returns for the server; absent if the store has only one server. */
  readonly lane?: string | number
  /** The state from now on. */
  readonly state: BreakerState
  /** The failure that opened the breaker; absent for other changes. */
  readonly failure?: StoreFailure
}

/** `closed`: calls pass. `open`: calls are refused, and the server is probed. `half-open`: the next call decides. */
export type BreakerState = 'closed' | 'open' | 'half-open'

export interface BreakerParts extends Required<BreakerOptions> {
  /** Name of the store, for messages. */
  readonly name: string
  readonly lane: string | number | undefined
  readonly clock: Time
  readonly random: Random
  /** A call that charges nothing; resolves with whether the server works. */
  readonly probe: (deadlineMs: number) => Promise<boolean>
  readonly onOpen: (refusal: StoreFailure) => void
}

/**
 * Failures that say nothing about the server. Their cause is the caller, the queue in this process, another caller's lock, or a lack of
 * room for new keys.
 */
const NOT_THE_SERVER: ReadonlySet<StoreFailureKind> = new Set(['aborted', 'overload', 'contention', 'memory'])
/** After this long without calls, probing stops. */
const UNUSED_MS = 60_000

/**
 * A circuit breaker (Nygard, Release It!) for one server. It opens if `failures` calls failed within the window and are at least half of
 * its calls. So one reset connection of a busy server does not open it. If calls are rare, the window has few of them. So the breaker also
 * opens if that many calls in a row failed, over at least the window's length. While it is open, calls are refused at once as
 * `unavailable`, not executed.
 */
export class Breaker {
  readonly #parts: BreakerParts
  #state: BreakerState = 'closed'
  #refusal: StoreFailure | undefined
  /** Calls that succeeded (`good`) and failed (`bad`) in the present half of the window, and in the half before it. */
  #now = { good: 0, bad: 0 }
  #before = { good: 0, bad: 0 }
  #since: MonotonicInstant
  /** The number of failures since the last success, and when the first of them was. */
  #run = 0
  #runSince: MonotonicInstant = 0
  #usedAt: MonotonicInstant
  #nextProbe: Cancel | undefined
  #isClosed = false

  constructor(parts: BreakerParts) {
    this.#parts = parts
    this.#since = this.#usedAt = parts.clock.monotonic()
  }

  get state(): BreakerState {
    return this.#state
  }

  /** The failure with which calls are refused now; undefined if they pass. */
  refusal(): StoreFailure | undefined {
    if (this.#refusal !== undefined) this.#usedAt = this.#parts.clock.monotonic()
    return this.#refusal
  }

  succeeded(): void {
    if (this.#state === 'half-open') {
      this.#become('closed')
      this.#before.good = this.#before.bad = this.#now.good = this.#now.bad = 0
    }
    this.#roll(this.#parts.clock.monotonic())
    this.#now.good += 1
    this.#run = 0
  }

  failed(failure: StoreFailure): void {
    const { failures, windowMs, clock } = this.#parts
    if (NOT_THE_SERVER.has(failure.kind) || this.#state === 'open') return
    if (this.#state === 'half-open') return this.#open(failure)
    const now = (this.#usedAt = clock.monotonic())
    this.#roll(now)
    this.#now.bad += 1
    this.#run += 1
    if (this.#run === 1) this.#runSince = now
    const bad = this.#now.bad + this.#before.bad
    const isMany = bad >= failures && bad >= this.#now.good + this.#before.good
    if (isMany || (this.#run >= failures && now - this.#runSince >= windowMs)) this.#open(failure)
  }

  /** Stops probing. */
  close(): void {
    this.#isClosed = true
    this.#nextProbe?.()
    this.#nextProbe = undefined
  }

  #roll(now: MonotonicInstant): void {
    const half = this.#parts.windowMs / 2
    const halves = Math.floor((now - this.#since) / half)
    if (halves === 0) return
    this.#before = halves === 1 ? this.#now : { good: 0, bad: 0 }
    this.#now = { good: 0, bad: 0 }
    this.#since += halves * half
  }

  #open(cause: StoreFailure): void {
    const { name, onOpen } = this.#parts
    this.#become('open', cause)
    const why = `${name}: not called, because it failed (${cause.message})`
    // One error for all refusals, because creating an error takes longer than a refusal.
    this.#refusal = new StoreFailure('unavailable', 'no', why, { cause })
    onOpen(this.#refusal)
    this.#probeLater()
  }

  #probeLater(): void {
    const { clock, probeMs, random } = this.#parts
    if (!this.#isClosed) this.#nextProbe ??= clock.after(probeMs * (0.5 + random() / 2), () => void this.#runProbe())
  }

  /**
   * Probes the server. If there were no calls for `UNUSED_MS`, it does not probe: the breaker becomes half-open, and the next call decides.
   */
  async #runProbe(): Promise<void> {
    const { clock, deadlineMs, probe } = this.#parts
    const isUnused = clock.monotonic() - this.#usedAt > UNUSED_MS
    const isHealthy = isUnused || (await probe(deadlineMs).catch(() => false))
    this.#nextProbe = undefined
    if (!isHealthy) return this.#probeLater()
    this.#become('half-open')
    this.#refusal = undefined
  }

  #become(state: BreakerState, failure?: StoreFailure): void {
    const { name: store, lane, onChange } = this.#parts
    this.#state = state
    try {
      onChange({ store, state, ...(lane !== undefined && { lane }), ...(failure && { failure }) })
    } catch {
      // An observer that fails must not fail the call.
    }
  }
}
