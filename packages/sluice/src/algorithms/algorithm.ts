import type { Micros } from '../time/micros.ts'

/** Short name of an algorithm. It is part of every state's id; a store checks it before it passes a limit to its program. */
export type AlgorithmTag = 'tb' | 'fw' | 'sc' | 'sl' | 'cc'
export type AlgorithmName = 'token-bucket' | 'fixed-window' | 'sliding-window-counter' | 'sliding-window-log' | 'concurrency'

/** A validated limit: an algorithm, its plan, and the figures that decisions and headers report. Frozen; shared by all its keys. */
export interface CompiledLimit<P = unknown, S = unknown> {
  /** The kernel that decides: pure functions of plan, state and time. */
  readonly algorithm: Algorithm<P, S>
  /** The limit as whole numbers, in the algorithm's own form. */
  readonly plan: P
  /** The most tokens that one call can ever get. */
  readonly capacity: number
  /** Milliseconds over which the capacity is replenished (header `w`). */
  readonly windowMs: number
  /** Whether decisions depend on the key's phase. If not, callers may pass a phase of 0. */
  readonly phased: boolean
  /**
   * Set if the limit starts low again after each reset. A call that would pass now may then be denied later although nobody else called.
   */
  readonly ramped?: true
}

/** A limit of any algorithm. Stores, groups and limiters treat all limits alike. */
// oxlint-disable-next-line typescript/no-explicit-any -- plan and state always come from the limit's own algorithm
export type AnyLimit = CompiledLimit<any, any>

/** How one call ended. `impossible`: no waiting can help. */
export type CallOutcome = 'allowed' | 'denied' | 'impossible'

/** What a key has left of a limit at one instant. All times are microseconds from that instant. */
export interface View {
  /** Whole tokens that a call could take now. */
  remaining: number
  /** Time until one more whole token is available; `resetAfter` if the capacity has no further whole token. */
  replenishAfter: Micros
  /** Time until the state is fresh. */
  resetAfter: Micros
}

/**
 * One decision, as an object that the kernel fills. To avoid an allocation, a caller that no longer needs the object may pass it to
 * `decide` again.
 */
export interface Step<S> extends View {
  outcome: CallOutcome
  /**
   * The least wait that is enough: a microsecond less is not. 0 unless the call is denied, or allowed ahead of its tokens: then how long
   * until they are there.
   */
  retryAfter: Micros
  /** The state after the call: `next` if the call is charged, otherwise the state that was passed in. */
  state: S | undefined
  /** The kernel writes a charged state here. */
  readonly next: S
}

/** Who takes a slot, and for how long. */
export interface HoldRequest {
  /** Any text. A holder with the same id holds the same slot. */
  readonly id: string
  /** Microseconds after which the slot is free again, unless it was given back; default what the limit says. */
  readonly micros?: Micros
}

/** What a holder of a slot got. */
export interface Grant {
  /** Store time at which the hold ends, microseconds since 1970. */
  readonly until: Micros
  /**
   * The fencing number: above that of every earlier grant of this state. A resource that refuses lower numbers than it has seen is safe from
   * holders whose hold has ended.
   */
  readonly fence: number
  /** Set if the holder held it before this call, which took nothing. */
  readonly again?: true
}

/** Micro-tokens: whole millionths of a token. Kernels and stores count costs in this unit. */
export type MicroTokens = number

/**
 * One algorithm: a frozen value without memory, clock or I/O. It computes in whole numbers only. `decide` is the reference: a store's
 * program may replace it and must then replay it exactly. `phase` is a number below 2^32 that belongs to the key.
 */
export interface Algorithm<P, S> {
  readonly name: AlgorithmName
  readonly tag: AlgorithmTag
  /** Derives a key's phase: a public hash of the key, the same in every process. Absent if no limit is phased. */
  phaseOf?(key: string): number
  /** Creates a step to pass to `decide`. */
  step(): Step<S>
  /**
   * Decides whether a call of this cost may pass now, and computes the state after it.
   * @param state of this plan (see `adopt`); it is not modified
   * @param cost above 0
   */
  decide(plan: P, state: S | undefined, now: Micros, cost: MicroTokens, phase: number, into?: Step<S>): Step<S>
  /** Converts a state of another plan to this one (law 7). Returns the same object if nothing changes, and undefined if it is fresh. */
  adopt(plan: P, state: S, now: Micros, phase: number): S | undefined
  /**
   * Gives an amount back (above 0, never beyond fresh) or takes it unconditionally (below 0, to at most one capacity below empty). Returns
   * the same state if nothing changes, and undefined if the result is fresh.
   * @param receipt store time of the refunded charge; nothing is given back if the window of that charge has ended
   */
  adjust(plan: P, state: S | undefined, now: Micros, amount: MicroTokens, phase: number, receipt?: Micros): S | undefined
  view(plan: P, state: S | undefined, now: Micros, phase: number): View
  /**
   * A plan that charges calls up to `most` before their tokens are there. States do not depend on `most`. Absent if calls of the algorithm
   * cannot be charged ahead.
   */
  ahead?(plan: P, most: Micros): P
  /**
   * Gives back a call that was charged ahead and does not wait any longer: its cost, less what others charged since. Returns the same state
   * if nothing changes, and undefined if the result is fresh. Present where `ahead` is.
   * @param state as stored, not adopted
   * @param charged the state after the call's own charge
   */
  leave?(plan: P, state: S | undefined, now: Micros, cost: MicroTokens, charged: S): S | undefined
  /**
   * The plan by which this holder takes slots, which it holds until it gives them back or its time is over. Absent if the tokens of the
   * algorithm come back with time alone. Where it is present, waits are upper bounds: a holder may be done earlier.
   */
  holding?(plan: P, hold: HoldRequest): P
  /** What the plan's holder was granted; undefined if the plan has none, or it holds nothing. Present where `holding` is. */
  granted?(plan: P, state: S): Grant | undefined
  /**
   * Ends a hold. Returns the same state if this holder holds nothing, and undefined if the result is fresh. Present where `holding` is.
   * @param state as stored, not adopted
   */
  release?(plan: P, state: S | undefined, now: Micros, id: string): S | undefined
  /**
   * Lets a hold end so many microseconds from now, unless it ends later already. Returns the same state if this holder holds nothing: nobody
   * gets a slot by it. Present where `holding` is.
   * @param state as stored, not adopted
   */
  prolong?(plan: P, state: S | undefined, now: Micros, hold: Required<HoldRequest>): S | undefined
  /**
   * Settles a call that was charged for a while with more than it may have needed (a hold): gives back what it did not need, or charges what
   * it needed more, to at most one capacity below empty. Absent: holds of the algorithm stay as they were charged.
   * @param state of this plan
   */
  settle?(plan: P, state: S | undefined, now: Micros, hold: HeldCharge, phase: number): Settled<S>
  /** What `settle` needs to know of the state after the hold's own charge, as a whole number. Absent if nothing. */
  markOf?(state: S): number
  /**
   * Only records of holds have it: notes, after its group was charged, what was charged before it.
   * @param before the calls before the record's own, in order, with their states after the charge
   */
  note?(plan: P, state: S, before: readonly Charged[]): S
  /** The first instant from which the state is expired: it decides as the initial state does (law 6). */
  expiresAt(plan: P, state: S): Micros
  /** The exact bound on what the limit may admit over every interval (law 5). */
  envelope(plan: P): Envelope
  readonly codec: Codec<P, S>
  /** How a table of numbers keeps states; `log` if their size varies. */
  readonly cells: Cells<S> | 'log'
  /** Makes the cells of one table for states whose size varies. Only algorithms with such states have it, and load its code. */
  readonly logCells?: (bounds: CellBounds) => Cells<S>
}

/** Bounds on what a table of states keeps outside of its rows. */
export interface CellBounds {
  readonly maxBytes: number
  /** The most records of holds. */
  readonly maxHolds: number
}

/** A limit and a state of it after a charge. */
export interface Charged {
  readonly limit: AnyLimit
  readonly state: unknown
}

/** A charge that is settled. Amounts are micro-tokens. */
export interface HeldCharge {
  readonly held: MicroTokens
  /** What was used; at least 0. */
  readonly actual: MicroTokens
  /** Store time of the charge. */
  readonly at: Micros
  /** What `markOf` said of the state after the charge. */
  readonly mark: number
}

export interface Settled<S> {
  /** Undefined if it is fresh; the same object if nothing changes. */
  readonly state: S | undefined
  /** What the limit counts for the call from now on. */
  readonly charged: MicroTokens
}

/**
 * Admits at most `burst + n / m * t` micro-tokens over every interval of t microseconds. Of slots, which come back from their holders: at
 * most `burst` are held at any instant, and n is 0.
 */
export interface Envelope {
  readonly n: number
  readonly m: Micros
  readonly burst: number
}

/** Encodes a plan and a state as whole numbers: arguments of a program, columns of a table, or fields of a value. */
export interface Codec<P, S> {
  encodePlan(plan: P): readonly number[]
  /** Uses the algorithm's documented order; see docs/algorithms. */
  encodeState(state: S): readonly number[]
  /** @param plan reused by the state if its numbers are the same; saves computing it again */
  decodeState(numbers: readonly number[], plan?: P): S
}

/**
 * How a table keeps many states. Each state has numbers of its own. Its other numbers follow from its plans, and many states share them.
 */
export interface Cells<S> {
  /** How many numbers each state has of its own. */
  readonly width: number
  /** Writes the state's own numbers to the cells from `at` on. For a new state these cells are 0 before. */
  save(state: S, cells: Float64Array, at: number): void
  /** Reads a state into `into`: its own numbers from the cells, the others from `sample`, a state with the same plan numbers. */
  load(sample: S, cells: Float64Array, at: number, into: S): void
  /** Whether two states have the same plan numbers. */
  samePlan(one: S, other: S): boolean
  /** The numbers that follow from the state's plans. */
  planNumbers(state: S): readonly number[]
  /** Whether there is room for what the state keeps outside of the cells; absent if there always is. For a new state `at` is below 0. */
  fits?(state: S, cells: Float64Array, at: number): boolean
  /** Frees what the state keeps outside of the cells. */
  release?(cells: Float64Array, at: number): void
}
