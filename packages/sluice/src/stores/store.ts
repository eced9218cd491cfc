import type { AlgorithmTag, AnyLimit, CallOutcome, Grant, HoldRequest, MicroTokens, View } from '../algorithms/algorithm.ts'
import type { GroupResult } from '../algorithms/group.ts'
import type { LeaseArguments } from '../algorithms/leased-bucket.ts'
import type { Micros } from '../time/micros.ts'
import type { Source } from '../decision/decision.ts'
import type { Call, CallOptions, StateId } from './call.ts'
import type { Change, ChangeResult } from './change.ts'
import type { RegionPort } from './region-port.ts'
import { StoreFailure } from './store-failure.ts'

export { type Call, type CallOptions, nameOf, type Scope, type StateId } from './call.ts'
export { type Change, changedState, changedStates, type ChangeResult, givenBack, type HoldChange, isOfHold } from './change.ts'
export { StoreFailure, type StoreFailureKind } from './store-failure.ts'

/** A store lists the options that it offers in its capabilities. */
export interface GroupOptions {
  /** Microseconds by which the group may be charged before its tokens are there. Only for limits whose algorithm has `ahead`. */
  readonly maxWait?: Micros
  /**
   * The holder of the slots of concurrency limits. A holder that has slots already is granted these. Without this option, nobody can give
   * back the slots.
   */
  readonly hold?: HoldRequest
}

/** Calls that are charged together or not at all, in order. Calls of one state must have the same limit; their costs add up. */
export interface CallGroup {
  /** At least one. */
  readonly calls: readonly Call[]
  /** Only those that the capabilities list. */
  readonly options?: GroupOptions
}

/** Options of `decide`. */
export interface DecideOptions extends CallOptions {
  /** `false`: a peek. Nothing is charged or written. `remaining` and the other numbers of a `View` are those before the group. */
  readonly charge?: boolean
  /**
   * `fail`: a group with a state that another transaction has locked fails at once with `contention`. Absent: the store's own option
   * applies. Stores without locks ignore it.
   */
  readonly onContention?: 'fail'
}

/** Times are microseconds from the group's `at`. */
export interface Verdict extends Readonly<View> {
  /** The outcome of this call alone. In a denied group nothing is charged, even if this call is allowed. */
  readonly outcome: CallOutcome
  /** The wait of this call alone. 0 unless the call is denied, or charged before its tokens are there. */
  readonly retryAfter: Micros
  /** Under `maxWait`: the state after the charge, which `leave` needs. */
  readonly after?: unknown
  /** The slot of a concurrency limit that was granted. */
  readonly grant?: Grant
  /** For a denied call of a hold record: the existing record. */
  readonly record?: unknown
  /** Set if a block denies the call, even if the limit denies it too or it is impossible: how long until the block ends. */
  readonly blockedFor?: Micros
}

/** A group that was decided. */
export interface Decided {
  /** The worst outcome of the calls: `impossible`, then `denied`, then `allowed`. */
  readonly outcome: CallOutcome
  /** Store time of the decision, microseconds since 1970. */
  readonly at: Micros
  /**
   * Denied: the least wait after which every call would pass (law 4 in ARCHITECTURE.md); absent if none was found. Charged under `maxWait`:
   * how long until all tokens are there; absent if they are there now.
   */
  readonly retryAfter?: Micros | undefined
  /** In the order of the calls. */
  readonly calls: readonly Verdict[]
  /** Default `store`. */
  readonly source?: Source
  /** Set if a call was denied by an overflow state, which new keys share while the store is full. */
  readonly reason?: 'overflow'
  /** Why an overflow state was used; absent if none was. */
  readonly degraded?: StoreFailure
  /** Distinguishes `Decided` from `Failed`. */
  readonly failure?: undefined
}

export function verdictOf({ outcome, retryAfter, calls }: GroupResult, at: Micros): Decided {
  return { outcome, at, retryAfter, calls }
}

/** A group that was not decided. */
export interface Failed {
  /** Why it was not decided. */
  readonly failure: StoreFailure
  /** Set if the store is full. The store's option `onFull` then applies instead of the failure policy. */
  readonly onFull?: 'allow' | 'deny'
  /** Absent. */
  readonly outcome?: undefined
  /** Absent. */
  readonly calls?: undefined
}

/** Check `failure` first. */
export type GroupVerdict = Decided | Failed

/**
 * Requests tokens of one bucket to spend later. The cost of `call` is the least amount that the holder can use. It may spend the tokens for
 * `life` microseconds from before it sent the request, by a clock that never steps.
 */
export interface LeaseRequest extends Omit<LeaseArguments, 'cost'> {
  /** The bucket, and the least amount that the holder can use. */
  readonly call: Call
}

/** The answer to a `LeaseRequest`. */
export interface Leased {
  /** Micro-tokens taken from the bucket; 0 if nothing was granted. */
  readonly granted: MicroTokens
  /** Store time of the grant, microseconds since 1970. */
  readonly at: Micros
  /**
   * The bucket after the grant. If nothing was granted although the outcome is `allowed`, call `decide`: the store does not lease the
   * tokens.
   */
  readonly verdict: Verdict
  /** Absent: the store has answered. */
  readonly failure?: undefined
}

/** The failure of one `LeaseRequest`. */
export interface LeaseFailed {
  /** Why the store has not answered. */
  readonly failure: StoreFailure
  /** Absent in a failure. */
  readonly granted?: undefined
  /** Absent in a failure. */
  readonly at?: undefined
  /** Absent in a failure. */
  readonly verdict?: undefined
}

/** A lease, or a failure of this request only. */
export type LeaseAnswer = Leased | LeaseFailed

/** Computes a new state, and the limit under which it counts. Undefined if nothing changes. `state` is undefined if none is stored. */
export type StateProgram = (state: unknown, now: Micros) => { readonly limit: AnyLimit; readonly state: unknown } | undefined

/** Shared code reads this, and never the name of a store. */
export interface Capabilities {
  /** Which clock times decisions. */
  readonly clock: 'caller' | 'server'
  /** Which groups are decided atomically: all, only those whose keys share a cluster slot, or none. */
  readonly atomicBatch: 'any' | 'same-slot' | 'none'
  /** Absent if the store decides all. */
  readonly algorithms?: readonly AlgorithmTag[]
  /** The kinds that the store can make. */
  readonly changes: readonly Change['kind'][]
  /** Absent if the store offers none. */
  readonly groupOptions?: readonly (keyof GroupOptions)[]
  /** Whether `decideNow` exists and always decides. */
  readonly sync: boolean
  /** Milliseconds that a call may take, in place of the limiter's default deadline. Not extended while the first connection is made. */
  readonly deadlineMs?: number
  /** Why the store cannot decide this limit; undefined if it can. */
  readonly problemOf?: (limit: AnyLimit) => string | undefined
  /** The most tokens that one call can get, if the store grants only parts of limits. Default: the limit's capacity. */
  readonly mostOf?: (limit: AnyLimit) => number
  /** The end of error messages about what the store lacks, such as `with regions of mode counters`. Default: `in this version`. */
  readonly lacks?: string
  /** Present if the store grants only parts of limits. Makes another store, such as the local fallback, grant the same parts. */
  readonly around?: (store: Store) => Store
  /** What regions need of the store, or why it is missing. */
  readonly regions?: RegionPort | string
}

/**
 * Keeps states and decides groups atomically. Rejects only with a StoreFailure. To extend this interface, add a kind of `Change` or an
 * option, never a method.
 */
export interface Store {
  /** The store's name in metrics. */
  readonly name: string
  /** What the store can do. */
  readonly capabilities: Capabilities
  /** Charges all calls of a group or none. A group that cannot be decided fails alone. */
  decide(groups: readonly CallGroup[], options?: DecideOptions): Promise<readonly GroupVerdict[]>
  /**
   * Decides and charges a group synchronously. Undefined, with nothing charged, if it cannot. Must keep no reference to the group, because
   * callers use the object again.
   */
  decideNow?(group: CallGroup, now?: Micros): GroupVerdict | undefined
  /**
   * Makes changes in order. Successive changes of one state and one kind are made in one atomic step; `adjust` only with the same receipt.
   * If a change fails, others are not undone.
   */
  change(changes: readonly Change[], options?: CallOptions): Promise<readonly ChangeResult[]>
  /** Answers requests in order. The tokens in a bucket and the tokens leased from it together never exceed the burst. */
  lease?(requests: readonly LeaseRequest[], options?: CallOptions): Promise<readonly LeaseAnswer[]>
  /**
   * A name of the server that holds these states, or their cluster slot. Undefined if they are on several servers. Absent if the store's
   * servers do not fail separately.
   */
  laneOf?(ids: readonly StateId[]): string | number | undefined
  /** Resolves when the store can decide. Rejects with a StoreFailure. */
  ready(options?: CallOptions): Promise<void>
  /** Stops the store's own timers and queues. Clients that were passed to it stay open. */
  close(): Promise<void>
}

/** @throws other errors, which are defects */
export function failedBy(error: unknown): Failed {
  if (error instanceof StoreFailure) return { failure: error }
  throw error
}

/** If the store fails: pass, refuse, or decide in this process. */
export type FailurePolicy = 'allow' | 'deny' | 'local'
