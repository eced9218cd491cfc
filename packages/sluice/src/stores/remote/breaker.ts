import { callObserver } from '../../errors/call-observer.ts'
import type { Complete } from '../../errors/options.ts'
import type { Cancel, MonotonicInstant, Random, Time } from '../../time/time.ts'
import { StoreFailure, type StoreFailureKind } from '../store.ts'

/** When the breaker opens, and how a failed server is probed. */
export interface BreakerOptions {
  /**
   * This many failures open the breaker, if they are at least half of the window's calls, or consecutive over at least `windowMs`. Default
   * 3.
   */
  readonly failures?: number | undefined
  /** Milliseconds over which failures and successes are counted; default 200. */
  readonly windowMs?: number | undefined
  /** The most milliseconds between probes of a failed server; pauses are random, and at least half as long. Default 250. */
  readonly probeMs?: number | undefined
  /** Milliseconds after which a probe counts as failed; default the ring's `deadline`, else 50. */
  readonly deadlineMs?: number | undefined
  /** Called synchronously at each change of a breaker's state. Errors that it throws are dropped. */
  readonly onChange?: ((change: BreakerChange) => void) | undefined
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

/** `closed`: calls pass. `open`: calls are refused, and the server is probed. `half-open`: the next call closes or opens it. */
export type BreakerState = 'closed' | 'open' | 'half-open'

export interface BreakerParts extends Complete<BreakerOptions> {
  readonly name: string
  readonly lane: string | number | undefined
  readonly clock: Time
  readonly random: Random
  /** Resolves with whether the server works. */
  readonly probe: (deadlineMs: number) => Promise<boolean>
  readonly onOpen: (refusal: StoreFailure) => void
}

/** Failures caused by the caller, the queue here, another caller's lock, or a full store say nothing about the server. */
const NOT_THE_SERVER: ReadonlySet<StoreFailureKind> = new Set(['aborted', 'overload', 'contention', 'memory'])
/** After this long without calls, probing stops. */
const UNUSED_MS = 60_000

/**
 * A circuit breaker (Nygard, Release It!) for one server. Failures must be half of the window's calls, so that one reset connection of a
 * busy server does not open it. Consecutive failures open it when calls are rare.
 */
export class Breaker {
  readonly #parts: BreakerParts
  #state: BreakerState = 'closed'
  #refusal: StoreFailure | undefined
  /** Calls in the present half of the window, and in the half before. */
  #now = { good: 0, bad: 0 }
  #before = { good: 0, bad: 0 }
  #since: MonotonicInstant
  /** Failures since the last success, and when the first one was. */
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

  /** Undefined: calls pass. */
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
    // Creating an error takes longer than a refusal, so all refusals share one.
    this.#refusal = new StoreFailure('unavailable', 'no', why, { cause })
    onOpen(this.#refusal)
    this.#probeLater()
  }

  #probeLater(): void {
    const { clock, probeMs, random } = this.#parts
    if (!this.#isClosed) this.#nextProbe ??= clock.after(probeMs * (0.5 + random() / 2), () => void this.#runProbe())
  }

  /** After `UNUSED_MS` without calls, becomes half-open without a probe. */
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
    callObserver(onChange, { store, state, ...(lane !== undefined && { lane }), ...(failure && { failure }) })
  }
}
