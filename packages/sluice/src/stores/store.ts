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

/** What a group wants beyond a plain decision. A store lists those that it offers in its capabilities. */
export interface GroupOptions {
  /**
   * The group may be charged up to so long before its tokens are there, in microseconds. The verdict then says how long until they are. Only
   * for limits whose algorithm can (`ahead`).
   */
  readonly maxWait?: Micros
  /**
   * Who takes the slots of the group's concurrency limits; other limits ignore it. A group with the id of a live holder is granted what that
   * one holds already. Without it, slots are taken too, and nobody can give them back: they are free when their time is over.
   */
  readonly hold?: HoldRequest
}

/** Calls that are charged together or not at all, in order. If calls have one state, they have one limit, and their costs add up. */
export interface CallGroup {
  /** In the order of charging; at least one. */
  readonly calls: readonly Call[]
  /** Only such that the store's capabilities list. */
  readonly options?: GroupOptions
}

/** Options of a store's `decide`. */
export interface DecideOptions extends CallOptions {
  /** `false`: a peek. Outcomes and waits are the same, but nothing is charged or written. Views show the states before the group. */
  readonly charge?: boolean
  /**
   * `fail`: a group with a state that another transaction has locked fails at once with `contention`; the store decides the other groups.
   * Absent: the store's own option applies, which is to wait for the lock by default. Stores without locks ignore this option.
   */
  readonly onContention?: 'fail'
}

/** The answer to one call of a group. Times are microseconds from the group's `at`. */
export interface Verdict extends Readonly<View> {
  /** The outcome of this call by itself. In a denied group nothing is charged, even if this call is allowed. */
  readonly outcome: CallOutcome
  /** The wait of this call by itself; 0 unless it is denied, or charged ahead of its tokens. */
  readonly retryAfter: Micros
  /** The state after the charge, if the call was charged ahead of its tokens: the change `leave` needs it. */
  readonly after?: unknown
  /** What the group's holder got, if the call takes slots and was charged. */
  readonly grant?: Grant
  /** The record of a hold that is there already, and denies the call. */
  readonly record?: unknown
  /** Set if a block denies the call, even if the limit denies it too. */
  readonly blocked?: true
}

/** A group that was decided. */
export interface Decided {
  /** The outcome of the group: that of its calls that is worst. */
  readonly outcome: CallOutcome
  /** Store time of the decision, microseconds since 1970. */
  readonly at: Micros
  /**
   * Of a denied group: the least wait after which every call of the group would pass if nobody else called (law 4). Absent if no such wait
   * was found: limits with ramps may never let all calls pass at the same instant. Of a group that was charged ahead (`maxWait`): how long
   * until all its tokens are there; absent if they are. Absent for other outcomes.
   */
  readonly retryAfter?: Micros | undefined
  /** One verdict for each call, in their order. */
  readonly calls: readonly Verdict[]
  /** What the answer comes from. Default `store`. */
  readonly source?: Source
  /** Set if an overflow state denied a call. New keys share such states while the store has no room for states of their own. */
  readonly reason?: 'overflow'
  /** Why an overflow state was used instead of the key's own; absent if none was used. */
  readonly degraded?: StoreFailure
  /** Absent; it tells `Decided` from `Failed`. */
  readonly failure?: undefined
}

/** Makes the verdict of a group from the result of the reference driver (`applyGroup`). */
export function verdictOf({ outcome, retryAfter, calls }: GroupResult, at: Micros): Decided {
  return { outcome, at, retryAfter, calls }
}

/** A group that was not decided. */
export interface Failed {
  /** Why the group was not decided, and whether it may have been charged. */
  readonly failure: StoreFailure
  /** Set if the store has no room for a new key and its option `onFull` decides for that case. It applies before the failure policy. */
  readonly onFull?: 'allow' | 'deny'
  /** Absent; only a decided group has one. */
  readonly outcome?: undefined
  /** Absent; only a decided group has verdicts. */
  readonly calls?: undefined
}

/** The answer to one group of a `decide` call. Check `failure` first. */
export type GroupVerdict = Decided | Failed

/**
 * A holder's request for tokens of one bucket (`grantLease`). The cost of `call` is the least amount that is of use. The holder may spend
 * the tokens for `life`, counted from before it sent the request, by a clock that never steps. It ignores answers to older requests.
 */
export interface LeaseRequest extends Omit<LeaseArguments, 'cost'> {
  readonly call: Call
}

export interface Leased {
  /** Micro-tokens that left the bucket for the holder to spend; 0 if nothing was granted. */
  readonly granted: MicroTokens
  /** Store time. */
  readonly at: Micros
  /**
   * The bucket after the grant. If nothing was granted, its outcome says why; `allowed` then means that the bucket has the tokens but does
   * not lease them, so call `decide`.
   */
  readonly verdict: Verdict
  readonly failure?: undefined
}

/** The answer to one request: a lease or a failure, which concerns this request alone. */
export type LeaseAnswer =
  | Leased
  | { readonly failure: StoreFailure; readonly granted?: undefined; readonly at?: undefined; readonly verdict?: undefined }

/** Makes a new state of a stored one, with a limit of its plan. An undefined state is fresh; an undefined result changes nothing. */
export type StateProgram = (state: unknown, now: Micros) => { readonly limit: AnyLimit; readonly state: unknown } | undefined

/** What a store can do. Shared code reads this, and never the name of a store. */
export interface Capabilities {
  /** Whose clock decides: the caller's, or the store's own server. */
  readonly clock: 'caller' | 'server'
  /** Which groups are decided atomically: any, those whose keys share a cluster slot, or none. */
  readonly atomicBatch: 'any' | 'same-slot' | 'none'
  /** The algorithms that the store decides; absent if it decides all. */
  readonly algorithms?: readonly AlgorithmTag[]
  /** The kinds of changes that it can make. */
  readonly changes: readonly Change['kind'][]
  /** The options of groups that it offers; absent if none. */
  readonly groupOptions?: readonly (keyof GroupOptions)[]
  /** Whether the store has `decideNow` and it always decides. */
  readonly sync: boolean
  /** Milliseconds that a call may take, if the store's own options set them. They replace the limiter's default and are never extended. */
  readonly deadlineMs?: number
  /** Why the store cannot decide this limit; undefined if it can. Absent if it decides every limit of its algorithms. */
  readonly problemOf?: (limit: AnyLimit) => string | undefined
  /** Puts what limits the store's grants around another store, such as the local fallback; absent if the store grants whole limits. */
  readonly around?: (store: Store) => Store
  /** For rights that are sent between regions: what they need of the store, or why it does not have that. */
  readonly regions?: RegionPort | string
}

/**
 * The port of stores. A store keeps states and decides groups atomically. It rejects only with a StoreFailure, which then concerns the
 * whole call. To add a verb, add a kind of change or an option, never a member.
 */
export interface Store {
  /** Its name in metrics. */
  readonly name: string
  /** What the store can do. */
  readonly capabilities: Capabilities
  /** Decides groups in order, each all or nothing. If one group cannot be decided, only that group fails. */
  decide(groups: readonly CallGroup[], options?: DecideOptions): Promise<readonly GroupVerdict[]>
  /**
   * Decides and charges a group at once, without calling a server. Returns undefined if it cannot; nothing is charged then. It keeps no
   * reference to the group.
   * @param now as in `CallOptions`
   */
  decideNow?(group: CallGroup, now?: Micros): GroupVerdict | undefined
  /**
   * Makes changes in order. For each state, neighbouring changes of one kind are atomic together; adjusts only if they have one receipt. A
   * failed change does not undo others.
   */
  change(changes: readonly Change[], options?: CallOptions): Promise<readonly ChangeResult[]>
  /**
   * Leases tokens of token buckets. Requests are answered in order, and one that fails does not affect the others. Tokens in a bucket and
   * those leased from it never exceed the burst together. Absent if the store has no leases.
   */
  lease?(requests: readonly LeaseRequest[], options?: CallOptions): Promise<readonly LeaseAnswer[]>
  /**
   * A name of the server that holds these states, or their cluster slot if the server is unknown. Undefined if they are on several servers.
   * The method is absent if states are not spread over servers that fail separately.
   */
  laneOf?(ids: readonly StateId[]): string | number | undefined
  /** Resolves when the store can decide. If it cannot, rejects with a StoreFailure that says why. */
  ready(options?: CallOptions): Promise<void>
  /** Stops the store's own timers and queues. It leaves open the clients that were passed to it. */
  close(): Promise<void>
}

/** The verdict for a group that failed with this error. @throws the error if it is not a StoreFailure, because it is a defect then */
export function failedBy(error: unknown): Failed {
  if (error instanceof StoreFailure) return { failure: error }
  throw error
}

/** What is decided while the store fails: `allow` lets the group pass, `deny` refuses it, `local` decides it in this process. */
export type FailurePolicy = 'allow' | 'deny' | 'local'
