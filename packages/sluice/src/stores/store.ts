import type { AlgorithmTag, AnyLimit, CallOutcome, MicroTokens, View } from '../algorithms/algorithm.ts'
import type { GroupResult } from '../algorithms/group.ts'
import type { LeaseArguments } from '../algorithms/leased-bucket.ts'
import type { Micros } from '../time/micros.ts'
import type { Source } from '../decision/decision.ts'
import type { MonotonicInstant } from '../time/time.ts'

/**
 * What all states of one limit share: `text` names the limiter, the limit and its algorithm, already encoded, without braces, spaces and
 * control characters, with a colon at its end. One object per limit: stores may keep what they know of it by identity.
 */
export interface Scope {
  readonly text: string
}

/** Where one state is stored. `key` is any text; a store that needs it safe and short uses `stateName`. */
export interface StateId {
  readonly scope: Scope
  readonly key: string
}

/** A call of one limit. */
export interface Call {
  readonly id: StateId
  readonly limit: AnyLimit
  /** Above 0, checked by the caller. */
  readonly cost: MicroTokens
  /** A number below 2^32 that belongs to the key (`phaseOf`); 0 if the limit is not phased. */
  readonly phase: number
}

/** Calls decided all or nothing, in order; the second call of one state sees the first. Calls of one state have the same limit. */
export interface CallGroup {
  readonly calls: readonly Call[]
}

export interface CallOptions {
  /** The store settles by this instant of its time port's monotonic clock, with a StoreFailure if it must. */
  readonly deadline?: MonotonicInstant
  /** Set if the deadline is a built-in default: it may be extended, to one second, while the first connection is made. */
  readonly stretch?: true
  readonly signal?: AbortSignal
  /** Decide as if it were this time: the test kit's clock, also for remote programs. States then outlive their time to live. */
  readonly now?: Micros
}

export interface DecideOptions extends CallOptions {
  /** `false`: a peek. It decides the same (outcomes and waits) and charges and writes nothing; views show the state before the group. */
  readonly charge?: boolean
  /**
   * `fail`: a group whose state somebody else has locked fails at once with `contention`, and the other groups are decided. Absent: the
   * store waits for it. Stores without locks ignore it.
   */
  readonly onContention?: 'fail'
}

/** One call's part of the answer; times are microseconds from the group's `at`. */
export interface Verdict extends Readonly<View> {
  readonly outcome: CallOutcome
  /** Of this call by itself; 0 unless denied. */
  readonly retryAfter: Micros
  /** Set if a block, not the limit, denies. */
  readonly blocked?: true
}

/** A group that was decided. */
export interface Decided {
  readonly outcome: CallOutcome
  /** Store time of the decision, microseconds since 1970. */
  readonly at: Micros
  /**
   * With `denied`: the least wait after which every call of the group would pass if nobody else called (law 4). Absent otherwise, and if
   * none was found: a limit whose ramp begins anew may then deny what it would let pass now.
   */
  readonly retryAfter?: Micros | undefined
  readonly calls: readonly Verdict[]
  /** Default `store`. */
  readonly source?: Source
  /** Set if an overflow state, used instead of the key's own, denies. */
  readonly reason?: 'overflow'
  /** Set if an overflow state was used instead of the key's own: why. */
  readonly degraded?: StoreFailure
  readonly failure?: undefined
}

/** The verdict for a group that the reference driver decided. */
export function verdictOf({ outcome, retryAfter, calls }: GroupResult, at: Micros): Decided {
  return { outcome, at, retryAfter, calls }
}

/** A group that was not decided. */
export interface Failed {
  readonly failure: StoreFailure
  /** Set if the store has no room for a new key and its option says what is decided then. The failure policy does not override it. */
  readonly onFull?: 'allow' | 'deny'
  readonly outcome?: undefined
  readonly calls?: undefined
}

export type GroupVerdict = Decided | Failed

/**
 * A change of one state.
 * - `adjust`: gives tokens back (`amount` above 0, in micro-tokens; the call's cost is not read) or takes them unconditionally (below 0).
 *   With `receipt`, the store time of the charge, a window that has ended since gives nothing back.
 * - `block`: nothing passes for `micros` microseconds from the store's now; `unblock` ends that.
 * - `reset`: forgets the state, so that the next call finds it fresh. A block stays, and so does what is leased.
 */
export type Change =
  | { readonly kind: 'adjust'; readonly call: Call; readonly amount: MicroTokens; readonly receipt?: Micros | undefined }
  | { readonly kind: 'block'; readonly id: StateId; readonly micros: Micros }
  | { readonly kind: 'unblock' | 'reset'; readonly id: StateId }

/** The result of one change: made, or failed. */
export interface ChangeResult {
  readonly failure?: StoreFailure
}

/** The state that a change is about. */
export function changedState(change: Change): StateId {
  return change.kind === 'adjust' ? change.call.id : change.id
}

/**
 * What a holder requests of one bucket (`grantLease`); the call's cost is the least useful amount. The holder spends the tokens within
 * `life` of the instant before it sent the request, by a clock that never steps. It drops the answer to any but its newest request.
 */
export interface LeaseRequest extends Omit<LeaseArguments, 'cost'> {
  readonly call: Call
}

export interface Leased {
  /** Tokens that have left the bucket and are the holder's to spend; 0 if there is no lease. */
  readonly granted: MicroTokens
  /** Store time. */
  readonly at: Micros
  /** The bucket after the grant, as every caller finds it; with nothing granted, why, where `allowed` means: call `decide` instead. */
  readonly verdict: Verdict
  readonly failure?: undefined
}

/** The answer to one request, or why it has none. A failure concerns this request alone. */
export type LeaseAnswer =
  | Leased
  | { readonly failure: StoreFailure; readonly granted?: undefined; readonly at?: undefined; readonly verdict?: undefined }

export interface Capabilities {
  /** Whose clock decides: the caller's, or the store's own server. */
  readonly clock: 'caller' | 'server'
  /** Which groups are atomic: any, those whose keys share a cluster slot, or none. */
  readonly atomicBatch: 'any' | 'same-slot' | 'none'
  /** The algorithms that the store decides; absent if it decides all. */
  readonly algorithms?: readonly AlgorithmTag[]
  /** The kinds of changes that it can make. */
  readonly changes: readonly Change['kind'][]
  /** Whether `decideNow` always decides. */
  readonly sync: boolean
  /** Milliseconds that a call may take, if the store's own options say so: hard, and in place of the limiter's default. */
  readonly deadlineMs?: number
}

/**
 * A store offers atomicity. It rejects only with StoreFailure, which then concerns the whole call. A new verb is a new kind of change or a
 * new option, never a new member.
 */
export interface Store {
  /** Its name in metrics. */
  readonly name: string
  readonly capabilities: Capabilities
  /** Decides each group all or nothing, groups in order. A group that it cannot decide fails alone; the others are decided. */
  decide(groups: readonly CallGroup[], options?: DecideOptions): Promise<readonly GroupVerdict[]>
  /**
   * Decides and charges without calling a server. Undefined: it cannot, and nothing was charged. It keeps no reference to the group.
   * @param now decides as if it were this time
   */
  decideNow?(group: CallGroup, now?: Micros): GroupVerdict | undefined
  /** Makes changes in order. Neighbouring changes of one kind are atomic together for each state; a failed one does not undo others. */
  change(changes: readonly Change[], options?: CallOptions): Promise<readonly ChangeResult[]>
  /**
   * Leases tokens of token buckets, in order and each on its own: what is leased and what is in the bucket are never more than the burst.
   * A request that fails does so alone. Absent if the store has no leases.
   */
  lease?(requests: readonly LeaseRequest[], options?: CallOptions): Promise<readonly LeaseAnswer[]>
  /**
   * Present if states are spread over servers that fail separately: the server (or, if that is unknown, the cluster slot) of these states,
   * as a name; undefined if they are on several.
   */
  laneOf?(ids: readonly StateId[]): string | number | undefined
  /** Resolves when the store can decide; rejects with a StoreFailure that says why not. */
  ready(options?: CallOptions): Promise<void>
  /** Stops timers and queues of the store's own. Clients that were passed in stay open. */
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

/** A state's name in maps. Unique, because scopes contain no spaces; cheaper than `stateName`. */
export function nameOf({ scope, key }: StateId): string {
  return `${scope.text} ${key}`
}

/** @throws what is not a StoreFailure: a defect */
export function failedBy(error: unknown): Failed {
  if (error instanceof StoreFailure) return { failure: error }
  throw error
}

/** The decision for a group of a failing store: let pass, refuse, or decide in this process. */
export type FailurePolicy = 'allow' | 'deny' | 'local'
