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

/** What a group needs in addition to a plain decision. A store lists the options that it offers in its capabilities. */
export interface GroupOptions {
  /**
   * Microseconds. The group may be charged up to this long before its tokens are there, and its caller then waits. The verdict says how
   * long it takes until the tokens are there. Only for limits whose algorithm allows this (`ahead`).
   */
  readonly maxWait?: Micros
  /**
   * Who takes the slots of the group's concurrency limits; other limits ignore this option. If a holder with this id has slots already, the
   * group is granted these. Without this option, slots are taken too, but nobody can give them back: each slot becomes free when its time
   * ends.
   */
  readonly hold?: HoldRequest
}

/** Calls that are charged together or not at all, in order. Calls of one state must have the same limit; their costs add up. */
export interface CallGroup {
  /** The calls, in the order in which they are charged; at least one. */
  readonly calls: readonly Call[]
  /** Only options that the store's capabilities list. */
  readonly options?: GroupOptions
}

/** Options of a store's `decide`. */
export interface DecideOptions extends CallOptions {
  /**
   * `false`: a peek. Outcomes and waits are the same, but nothing is charged or written. `remaining` and the other numbers of a `View` are
   * those before the group.
   */
  readonly charge?: boolean
  /**
   * `fail`: a group with a state that another transaction has locked fails at once with `contention`; the store decides the other groups.
   * Absent: the option of the same name of the store applies, by which it waits for the lock by default. Stores without locks ignore this
   * option.
   */
  readonly onContention?: 'fail'
}

/** The answer to one call of a group. Times are microseconds from the group's `at`. */
export interface Verdict extends Readonly<View> {
  /** The outcome of this call alone. In a denied group nothing is charged, even if this call is allowed. */
  readonly outcome: CallOutcome
  /**
   * The wait of this call alone, without the other calls of the group. 0 unless the call is denied, or charged before its tokens are there.
   */
  readonly retryAfter: Micros
  /** The state after the charge, if the group has the option `maxWait`. To give the charge back (`leave`), this state is needed. */
  readonly after?: unknown
  /** The slot that was granted, if the call takes a slot of a concurrency limit and was charged. */
  readonly grant?: Grant
  /** For a call that records a hold, and is denied because the hold has a record already: that record. */
  readonly record?: unknown
  /** Set if a block denies the call, even if the limit denies it too. */
  readonly blocked?: true
}

/** The answer for a group that was decided. */
export interface Decided {
  /** The outcome of the group: the worst outcome of its calls (`impossible`, then `denied`, then `allowed`). */
  readonly outcome: CallOutcome
  /** Store time of the decision, microseconds since 1970. */
  readonly at: Micros
  /**
   * For a denied group: the least wait after which every call of the group would pass if nobody else called (law 4). Absent if no such wait
   * was found: limits with ramps may never let all calls pass at the same instant. For a group that was charged before its tokens were
   * there (`maxWait`): how long it takes until all are there; absent if they are there now. Absent for other outcomes.
   */
  readonly retryAfter?: Micros | undefined
  /** One verdict for each call, in the order of the calls. */
  readonly calls: readonly Verdict[]
  /** What made the decision. Default `store`. */
  readonly source?: Source
  /**
   * Set if an overflow state denied a call of the group. New keys share overflow states while the store has no room for their own states.
   */
  readonly reason?: 'overflow'
  /** Why an overflow state was used instead of the key's own; absent if none was used. */
  readonly degraded?: StoreFailure
  /** Absent. By this field `Decided` and `Failed` are distinguished. */
  readonly failure?: undefined
}

/** Makes the answer for a group from the result of the reference driver (`applyGroup`). */
export function verdictOf({ outcome, retryAfter, calls }: GroupResult, at: Micros): Decided {
  return { outcome, at, retryAfter, calls }
}

/** The answer for a group that was not decided. */
export interface Failed {
  /** Why the group was not decided, and whether it may have been charged. */
  readonly failure: StoreFailure
  /**
   * Set if the store has no room for a new key, and its option `onFull` says `allow` or `deny` for this case. This field then applies
   * instead of the failure policy.
   */
  readonly onFull?: 'allow' | 'deny'
  /** Absent, because only a decided group has an outcome. */
  readonly outcome?: undefined
  /** Absent, because only a decided group has verdicts. */
  readonly calls?: undefined
}

/** The answer for one group of a `decide` call. Check `failure` first. */
export type GroupVerdict = Decided | Failed

/**
 * A request for a lease: a process wants tokens of one bucket to spend later (`grantLease`). The owner of a lease is its holder. The cost
 * of `call` is the least amount that the holder can use. The holder may spend the tokens for `life` microseconds from before it sent the
 * request, by a clock that never steps. It ignores answers to older requests.
 */
export interface LeaseRequest extends Omit<LeaseArguments, 'cost'> {
  readonly call: Call
}

export interface Leased {
  /** Micro-tokens that were taken from the bucket for the holder to spend; 0 if nothing was granted. */
  readonly granted: MicroTokens
  /** Store time of the grant, microseconds since 1970. */
  readonly at: Micros
  /**
   * The bucket after the grant. If nothing was granted, the outcome says why. `allowed` then means that the bucket has the tokens, but the
   * store does not lease them, so the caller should call `decide`.
   */
  readonly verdict: Verdict
  readonly failure?: undefined
}

/** The answer to one request: a lease, or a failure of this request only. */
export type LeaseAnswer =
  | Leased
  | { readonly failure: StoreFailure; readonly granted?: undefined; readonly at?: undefined; readonly verdict?: undefined }

/**
 * Computes a new state from a stored state. Returns it with a limit whose plan (the limit in whole numbers) the new state has. The stored
 * state is undefined if no state is stored. The result is undefined if nothing changes.
 */
export type StateProgram = (state: unknown, now: Micros) => { readonly limit: AnyLimit; readonly state: unknown } | undefined

/** What a store can do. Code for all stores reads this, and never the name of a store. */
export interface Capabilities {
  /** Which clock times decisions: that of the caller, or that of the store's server. */
  readonly clock: 'caller' | 'server'
  /** Which groups the store decides atomically: all, only those whose keys share a cluster slot, or none. */
  readonly atomicBatch: 'any' | 'same-slot' | 'none'
  /** The algorithms that the store decides. Absent if it decides all. */
  readonly algorithms?: readonly AlgorithmTag[]
  /** The kinds of changes that the store can make. */
  readonly changes: readonly Change['kind'][]
  /** The options of groups that the store offers. Absent if it offers none. */
  readonly groupOptions?: readonly (keyof GroupOptions)[]
  /** Whether the store has `decideNow`, and `decideNow` always decides. */
  readonly sync: boolean
  /**
   * Milliseconds that a call may take, if an option of the store says so. They replace the limiter's default deadline. Unlike that, they
   * are not extended while the store's first connection is made.
   */
  readonly deadlineMs?: number
  /** Returns why the store cannot decide this limit; undefined if it can. Absent if the store decides every limit of its algorithms. */
  readonly problemOf?: (limit: AnyLimit) => string | undefined
  /**
   * Returns the most tokens of a limit that the store can ever grant to one call, if it grants only a part of each limit. If this is
   * absent, it is the limit's capacity.
   */
  readonly mostOf?: (limit: AnyLimit) => number
  /**
   * The end of error messages which say that the store cannot do something, such as `with regions of mode counters`. If absent, the
   * messages say `in this version`.
   */
  readonly lacks?: string
  /**
   * Present if this store grants only parts of limits. Wraps another store, such as the local fallback, so that the other store grants the
   * same parts.
   */
  readonly around?: (store: Store) => Store
  /** The operations that regions need of the store, or a text that says why the store does not have them. */
  readonly regions?: RegionPort | string
}

/**
 * The port: the interface of every store. A store keeps states and decides groups atomically. If one of its methods rejects, it rejects
 * with a StoreFailure, and the whole call has failed. To extend the port, add a kind of change or an option, never a method.
 */
export interface Store {
  /** The name of the store in metrics. */
  readonly name: string
  /** What the store can do. */
  readonly capabilities: Capabilities
  /** Decides groups in order, and charges all calls of a group or none. If one group cannot be decided, only that group fails. */
  decide(groups: readonly CallGroup[], options?: DecideOptions): Promise<readonly GroupVerdict[]>
  /**
   * Decides and charges a group synchronously, without calling a server. Returns undefined if it cannot; nothing is charged then. It keeps
   * no reference to the group, because callers use the object again.
   * @param now as in `CallOptions`
   */
  decideNow?(group: CallGroup, now?: Micros): GroupVerdict | undefined
  /**
   * Makes changes in order. If changes that follow each other have one state and one kind, they are made in one atomic step; changes of
   * kind `adjust` only if they have the same receipt. If a change fails, other changes are not undone.
   */
  change(changes: readonly Change[], options?: CallOptions): Promise<readonly ChangeResult[]>
  /**
   * Leases tokens of token buckets to this process. Requests are answered in order, and a failed request does not affect the others. The
   * tokens in a bucket and the tokens leased from it together never exceed the burst. Absent if the store has no leases.
   */
  lease?(requests: readonly LeaseRequest[], options?: CallOptions): Promise<readonly LeaseAnswer[]>
  /**
   * Returns a name of the server that holds these states, or their cluster slot if the server is not known. Returns undefined if the states
   * are on several servers. Absent if states are not spread over servers that fail separately.
   */
  laneOf?(ids: readonly StateId[]): string | number | undefined
  /** Resolves when the store can decide. If it cannot, rejects with a StoreFailure that says why. */
  ready(options?: CallOptions): Promise<void>
  /** Stops the store's own timers and queues. Clients that were passed to the store stay open. */
  close(): Promise<void>
}

/** Makes the answer for a group that failed with this error. @throws the error if it is not a StoreFailure, because it is then a defect */
export function failedBy(error: unknown): Failed {
  if (error instanceof StoreFailure) return { failure: error }
  throw error
}

/** What happens to a group if the store fails: `allow` lets it pass, `deny` refuses it, `local` decides it in this process. */
export type FailurePolicy = 'allow' | 'deny' | 'local'
