import type { AlgorithmTag, AnyLimit, CallOutcome, MicroTokens, View } from '../algorithms/algorithm.ts'
import type { LeaseAsk } from '../algorithms/leased-bucket.ts'
import type { Micros } from '../time/micros.ts'
import type { Outcome, Source } from '../decision/decision.ts'
import type { MonotonicInstant } from '../time/time.ts'

/**
 * What all states of one limit share: `text` names the limiter, the limit and its algorithm, already encoded, without braces,
 * spaces and control characters, with a colon at its end. One object per limit: stores may keep what they know of it by identity.
 */
export interface Scope {
  readonly text: string
}

/** Where one state lives. `key` is any text; a store that needs it safe and short takes `stateName`. */
export interface StateId {
  readonly scope: Scope
  readonly key: string
}

/** One question to one limit. */
export interface Call {
  readonly id: StateId
  readonly limit: AnyLimit
  /** Above 0, checked by the caller. */
  readonly cost: MicroTokens
  /** A number below 2^32 that belongs to the key (`phaseOf`); 0 where the limit is not phased. */
  readonly phase: number
}

/** What an unanswered group should become: let pass, refused, or decided by a store in this process. */
export type FailurePolicy = 'allow' | 'deny' | 'local'

/**
 * Calls decided all or nothing, in order; the second call of one state sees the first. Calls of one state carry one limit.
 */
export interface CallGroup {
  readonly calls: readonly Call[]
  /** Read by `withFallback`; stores ignore it. */
  readonly onFailure?: FailurePolicy
}

export interface CallOptions {
  /** The store settles by this instant of its time port's monotonic clock, with a StoreFailure if it must. */
  readonly deadline?: MonotonicInstant
  readonly signal?: AbortSignal
  /**
   * A store over a wire may call it when the answer has come and before it is read, if it will ask nothing more: what waits for its turn may be
   * sent meanwhile. Whoever asks a store more than once for one call does not hand it on.
   */
  readonly heard?: () => void
  /** Decide as if it were this time: the test kit's clock, also for remote programs. States then outlive their time to live. */
  readonly now?: Micros
}

export interface AdjustOptions extends CallOptions {
  /** Store time of the charge that is given back: a window that has ended since gives nothing back. */
  readonly receipt?: Micros
}

/** One call's part of the answer; times are microseconds from the group's `at`. */
export interface Verdict extends Readonly<View> {
  readonly outcome: CallOutcome
  /** Of this call by itself; 0 unless denied. */
  readonly retryAfter: Micros
  /** Set where a block, not the limit, denies. */
  readonly blocked?: true
}

export interface GroupVerdict {
  /** With `undecided`, `calls` is empty: nothing is known. */
  readonly outcome: Outcome
  /** Whether the request may pass: the outcome's, or the failure policy's for `undecided`. */
  readonly allowed: boolean
  /** Store time of the decision, microseconds since 1970; NaN with `undecided`, for no store said it. */
  readonly at: Micros
  /**
   * With `denied`: the least wait after which every call of the group would pass if nobody else called (law 4). Absent otherwise, and where none was
   * found: a limit whose ramp begins anew may deny then what it would let pass now.
   */
  readonly retryAfter?: Micros | undefined
  readonly calls: readonly Verdict[]
  readonly source: Source
  /** Set where an overflow state stands in for the key's own. */
  readonly reason?: 'overflow'
  /** Set where the store that should have decided did not, or not from the key's own state. */
  readonly degraded?: StoreFailure
  /** With `undecided`: the store has no room for a new key, and its own option says so; `allowed` agrees. The failure policy does not override it. */
  readonly onFull?: 'allow' | 'deny'
  /** Set where a store in this process stood in with a part of the limit: among how many processes it was divided. */
  readonly nodes?: number
}

/**
 * What a holder asks of one bucket, as `grantLease` reads it; the call's cost is the least amount that is of use. The holder spends what it has
 * within `life` of the instant before it sent the request, by a clock that never steps, and drops what comes as the answer to
 * any but its newest request.
 */
export interface LeaseRequest extends Omit<LeaseAsk, 'cost'> {
  readonly call: Call
}

export interface LeaseAnswer {
  /** Tokens that have left the bucket and are the holder's to spend; 0 where there is no lease to be had. */
  readonly granted: MicroTokens
  /** Store time. */
  readonly at: Micros
  /** The bucket after the grant, as every caller finds it; with nothing granted, why, where `allowed` means: ask with `consume`. */
  readonly verdict: Verdict
}

export interface Capabilities {
  /** Whose clock decides: the caller's, or the store's own server. */
  readonly clock: 'caller' | 'server'
  /** Which groups are atomic: any, those whose keys share a cluster slot, or none. */
  readonly atomicBatch: 'any' | 'same-slot' | 'none'
  /** Algorithms that the store decides; absent where it decides all. */
  readonly algorithms?: readonly AlgorithmTag[]
  /** Whether `consumeSync` is there. */
  readonly sync: boolean
}

/**
 * A store offers atomicity. It decides each group all or nothing, groups in order, and rejects only with StoreFailure. A
 * group that it alone cannot decide is answered `undecided` with `degraded` set, and the others stand.
 */
export interface Store {
  /** What metrics call it; a wrapper has the name of the store it wraps. Default `store`. */
  readonly name?: string
  readonly capabilities: Capabilities
  /** Present where `atomicBatch` is `same-slot`: the slot of these states, undefined where they lie in several. */
  slotOf?(ids: readonly StateId[]): number | undefined
  consume(groups: readonly CallGroup[], options?: CallOptions): Promise<readonly GroupVerdict[]>
  /** Present exactly when `capabilities.sync`. The verdict is the store's own and good until its next call. */
  consumeSync?(group: CallGroup, options?: CallOptions): GroupVerdict
  /**
   * Present where a part keeps something of the store in this process: the verdict that `consume` would give at once without asking the store, or
   * undefined, and then nothing was charged or noted. It keeps nothing of the group.
   */
  consumeHere?(group: CallGroup): GroupVerdict | undefined
  /**
   * What `consume` would answer to the same groups in turn (outcomes and waits), charging nothing and writing nothing. What is left is told as it
   * stands before the group, uncharged.
   */
  peek(groups: readonly CallGroup[], options?: CallOptions): Promise<readonly GroupVerdict[]>
  /**
   * Gives back (amounts above 0, in micro-tokens, one for each call; the calls' costs are not read) or takes without asking
   * (below 0). Where the store cannot, the method is absent.
   */
  adjust?(calls: readonly Call[], amounts: readonly MicroTokens[], options?: AdjustOptions): Promise<void>
  /** For this long from the store's now nothing passes; null lifts the block. Where the store cannot, the method is absent. */
  block?(ids: readonly StateId[], duration: Micros | null, options?: CallOptions): Promise<void>
  /**
   * Tokens in advance, of token buckets alone, so that not every call must ask: what is out on lease and what is in the bucket are never
   * more than the burst. In order, each on its own. Where the store cannot, the method is absent.
   */
  lease?(requests: readonly LeaseRequest[], options?: CallOptions): Promise<readonly LeaseAnswer[]>
  /** Forgets states: the next call finds them fresh. A block stays, and so does what is out on lease. */
  reset(ids: readonly StateId[], options?: CallOptions): Promise<void>
  /** Resolves when the store can decide; rejects with a StoreFailure that says why not. */
  ready(options?: CallOptions): Promise<void>
  /** Stops timers and queues of the store's own. Clients that were handed in stay open. */
  close(): Promise<void>
}

/**
 * - `timeout`: no answer by the deadline. `connection`: lost, refused or never made. `unavailable`: the server answers but
 *   cannot serve (loading, moved, cluster down, shutting down). `readonly`: it may not write. `memory`: it or the store's own
 *   bound is full. `contention`: gave up after retries. `overload`: the caller's side queues too much. `setup`: wrong
 *   credentials, schema or permission. `aborted`: the caller's signal. `protocol`: an answer that makes no sense.
 */
export type StoreFailureKind =
  | 'timeout'
  | 'connection'
  | 'unavailable'
  | 'readonly'
  | 'memory'
  | 'contention'
  | 'overload'
  | 'setup'
  | 'aborted'
  | 'protocol'

/** The only error a store rejects with. `executed: 'unknown'`: the call may have been charged; it is never sent again. */
export class StoreFailure extends Error {
  override readonly name = 'StoreFailure'
  readonly kind: StoreFailureKind
  readonly executed: 'no' | 'unknown'

  constructor(kind: StoreFailureKind, executed: 'no' | 'unknown', message: string, options?: ErrorOptions) {
    super(message, options)
    this.kind = kind
    this.executed = executed
  }
}
