import type { Micros } from '../time/micros.ts'

/** Short name of an algorithm. It is part of every state's id. A store checks it before it passes a limit to its Lua or SQL program. */
export type AlgorithmTag = 'tb' | 'fw' | 'sc' | 'sl' | 'cc'
export type AlgorithmName = 'token-bucket' | 'fixed-window' | 'sliding-window-counter' | 'sliding-window-log' | 'concurrency'

/** A validated limit: algorithm, plan (its numbers), and the figures that decisions and headers report. Frozen; shared by all its keys. */
export interface CompiledLimit<P = unknown, S = unknown> {
  /** The kernel (the algorithm in TypeScript): decides by pure functions of plan, state and time. */
  readonly algorithm: Algorithm<P, S>
  /** The limit as whole numbers, in the algorithm's own form. */
  readonly plan: P
  /** The most tokens that one call can ever get. */
  readonly capacity: number
  /** Milliseconds over which the capacity is replenished (parameter `w` of the header field RateLimit-Policy). */
  readonly windowMs: number
  /**
   * Whether decisions depend on the key's phase: a number that `phaseOf` computes from the key, and that shifts the key's windows. If not,
   * callers may pass a phase of 0.
   */
  readonly phased: boolean
  /**
   * Set if the limit is low again at the start of each window and then grows (a ramp). A call that would pass now may then be denied later,
   * although nobody else called.
   */
  readonly ramped?: true
  /**
   * Set if calls may be charged before their tokens are refilled (`chargedAhead`). If such a call stops waiting, its charge can be given
   * back (`leave`).
   */
  readonly ahead?: true
}

/** A limit of any algorithm. Stores, groups and limiters treat all limits alike. */
// oxlint-disable-next-line typescript/no-explicit-any -- plan and state always come from the limit's own algorithm
export type AnyLimit = CompiledLimit<any, any>

/** The outcome of one call. `impossible`: the call does not pass, however long its caller waits. */
export type CallOutcome = 'allowed' | 'denied' | 'impossible'

/** What a key has left of a limit at one instant. All times are microseconds from that instant. */
export interface View {
  /** Whole tokens that a call could take now. */
  remaining: number
  /** Time until one more whole token is available. If `remaining` plus one exceeds the capacity, the same as `resetAfter`. */
  replenishAfter: Micros
  /** Time until the key has as much left as a key that was never used, if nothing is charged meanwhile. */
  resetAfter: Micros
}

/**
 * One decision, as an object that the kernel (an `Algorithm`) fills. To avoid an allocation, a caller that no longer needs the object may
 * pass it to `decide` again.
 */
export interface Step<S> extends View {
  outcome: CallOutcome
  /**
   * Microseconds. For a denied call: the least wait after which it would pass; a microsecond less is not enough. For a call that was
   * charged ahead: the time until its tokens are there. 0 for every other call.
   */
  retryAfter: Micros
  /** The state after the call: `next` if the call is charged, otherwise the state that was passed in. */
  state: S | undefined
  /** The kernel writes a charged state here. */
  readonly next: S
}

/** Who takes a slot of a concurrency limit, and for how long. */
export interface HoldRequest {
  /** Any text. Two calls with the same id are calls of one holder, which has one slot. */
  readonly id: string
  /** Microseconds after which the slot is free again, unless the holder gave it back before. Default: the limit's `holdMs`. */
  readonly micros?: Micros
}

/** What a holder of a slot got. */
export interface Grant {
  /** Store time at which the hold ends, microseconds since 1970. */
  readonly until: Micros
  /**
   * The fencing number: greater than that of every earlier grant of this state. A resource can refuse numbers below the greatest that it
   * has seen. Then a holder whose slot has ended and was granted again can no longer use the resource.
   */
  readonly fence: number
  /** Set if the holder had its slot already before this call. The call then took nothing. */
  readonly again?: true
}

/** Micro-tokens: whole millionths of a token. Algorithms and stores count costs in this unit. */
export type MicroTokens = number

/**
 * One algorithm: a frozen value without memory, clock or I/O. It computes in whole numbers only. `decide` is the reference: if a store has
 * a program that decides instead, its decisions must be exactly the same. `phase` is a number below 2^32 that belongs to the key.
 */
export interface Algorithm<P, S> {
  readonly name: AlgorithmName
  readonly tag: AlgorithmTag
  /**
   * Computes a key's phase: a hash of the key without a secret, so the same in every process. Absent if no limit of the algorithm depends
   * on a phase.
   */
  phaseOf?(key: string): number
  /** Creates a step to pass to `decide`. */
  step(): Step<S>
  /**
   * Decides whether a call of this cost may pass now, and computes the state after it.
   * @param state written under this plan, or converted to it by `adopt`; it is not modified
   * @param cost above 0
   */
  decide(plan: P, state: S | undefined, now: Micros, cost: MicroTokens, phase: number, into?: Step<S>): Step<S>
  /**
   * Converts a state that another plan wrote to this plan (law 7 in ARCHITECTURE.md). Returns the same object if nothing changes, and
   * undefined if the result equals the state of an unused key.
   */
  adopt(plan: P, state: S, now: Micros, phase: number): S | undefined
  /**
   * An amount above 0 is given back, but a key never gets more than an unused key has. An amount below 0 is taken even if the tokens are
   * not there, down to at most one capacity below empty. Returns the same state if nothing changes, and undefined if the result is that of
   * an unused key.
   * @param receipt store time of the refunded charge; nothing is given back if the window of that charge has ended
   */
  adjust(plan: P, state: S | undefined, now: Micros, amount: MicroTokens, phase: number, receipt?: Micros): S | undefined
  view(plan: P, state: S | undefined, now: Micros, phase: number): View
  /**
   * Returns the plan with which calls are charged up to `most` microseconds before their tokens are there. States do not depend on `most`.
   * Absent if calls of the algorithm cannot be charged ahead.
   */
  ahead?(plan: P, most: Micros): P
  /**
   * Gives back the charge of a call that will not start. The call gets its cost back, less what other calls were charged after it. If its
   * tokens are refilled already, it gets back only what the bucket had room for all the time since the charge. Returns the same state if
   * nothing changes, and undefined if the result is that of an unused key. Present where `ahead` is.
   * @param state as stored, not converted by `adopt`
   * @param charged the state right after the call was charged
   */
  leave?(plan: P, state: S | undefined, now: Micros, cost: MicroTokens, charged: S): S | undefined
  /**
   * Returns the plan with which `decide` gives a slot to this holder. The holder has the slot until it gives it back or `hold.micros` are
   * over. Present only if tokens of the algorithm come back from their holders. Waits are then upper bounds, because a holder may give its
   * slot back earlier.
   */
  holding?(plan: P, hold: HoldRequest): P
  /**
   * What the holder of the plan (see `holding`) was granted. Undefined if the plan has no holder, or if the holder has no slot. Present
   * where `holding` is.
   */
  granted?(plan: P, state: S): Grant | undefined
  /**
   * Gives back the slot of the holder with this id. Returns the same state if this holder has no slot, and undefined if the result is that
   * of an unused key. Present where `holding` is.
   * @param state as stored, not converted by `adopt`
   */
  release?(plan: P, state: S | undefined, now: Micros, id: string): S | undefined
  /**
   * Moves the end of a holder's slot to `hold.micros` from now, unless the slot ends later already. Returns the same state if this holder
   * has no slot; it does not get one. Present where `holding` is.
   * @param state as stored, not converted by `adopt`
   */
  prolong?(plan: P, state: S | undefined, now: Micros, hold: Required<HoldRequest>): S | undefined
  /**
   * Settles a hold: a call that was charged before it was known what it would use. Gives back what it did not use. What it used in addition
   * is charged, down to at most one capacity below empty. Absent if holds of the algorithm are not settled.
   * @param state written under this plan, or converted to it by `adopt`
   */
  settle?(plan: P, state: S | undefined, now: Micros, hold: HeldCharge, phase: number): Settled<S>
  /**
   * The number that `settle` needs later as `HeldCharge.mark`. `state` is the state right after the hold was charged. Absent if `settle`
   * needs none.
   */
  markOf?(state: S): number
  /**
   * Only the algorithm of hold records (`hold-record.ts`) has it. A hold record remembers what the calls of its group were charged. Called
   * after the group was charged: writes these charges into the record.
   * @param before the calls of the group before the record's own, in order, with their states after the charge
   */
  note?(plan: P, state: S, before: readonly Charged[]): S
  /** The first instant from which the state is expired: from then on it decides as the initial state does (law 6 in ARCHITECTURE.md). */
  expiresAt(plan: P, state: S): Micros
  /** The exact bound on what the limit may admit over every interval (law 5 in ARCHITECTURE.md). */
  envelope(plan: P): Envelope
  readonly codec: Codec<P, S>
  /** How the memory store's table of numbers keeps the states of this algorithm; `log` if their size varies. */
  readonly cells: Cells<S> | 'log'
  /**
   * Makes the `Cells` of one table for states whose size varies. Only algorithms with such states have this function. So a program that
   * uses none of them does not load its code.
   */
  readonly logCells?: (bounds: CellBounds) => Cells<S>
}

/** Bounds on the data that a table of states keeps outside of its rows. */
export interface CellBounds {
  readonly maxBytes: number
  /** The most hold records. */
  readonly maxHolds: number
}

/** A limit, and its state for one key after a charge. */
export interface Charged {
  readonly limit: AnyLimit
  readonly state: unknown
}

/** The charge of a hold that is being settled. Amounts are micro-tokens. */
export interface HeldCharge {
  readonly held: MicroTokens
  /** What the call really used; at least 0. */
  readonly actual: MicroTokens
  /** Store time of the charge. */
  readonly at: Micros
  /** What `markOf` returned for the state right after the charge. */
  readonly mark: number
}

export interface Settled<S> {
  /** The state after the settlement. Undefined if it equals that of an unused key; the same object if nothing changes. */
  readonly state: S | undefined
  /** What the limit counts for the call from now on. */
  readonly charged: MicroTokens
}

/**
 * The limit admits at most `burst + n / m * t` micro-tokens over every interval of t microseconds. For slots, which come back from their
 * holders and not with time, n is 0: at most `burst` are held at any instant.
 */
export interface Envelope {
  readonly n: number
  readonly m: Micros
  readonly burst: number
}

/** Encodes a plan and a state as whole numbers: arguments of a program, columns of a table, or fields of a value. */
export interface Codec<P, S> {
  encodePlan(plan: P): readonly number[]
  /** The numbers of a state, in the order that docs/algorithms documents. */
  encodeState(state: S): readonly number[]
  /** @param plan used as the plan of the state if it has the same numbers; saves computing that plan again */
  decodeState(numbers: readonly number[], plan?: P): S
}

/**
 * How a table keeps many states in few numbers. Each state has its own numbers in its row. The other numbers of a state (the plan numbers)
 * follow from its plans. They are kept once for all states that share them.
 */
export interface Cells<S> {
  /** How many numbers each state has of its own. */
  readonly width: number
  /** Writes the state's own numbers to the cells from `at` on. If the row is new, these cells are 0 before. */
  save(state: S, cells: Float64Array, at: number): void
  /** Reads a state into `into`: its own numbers from the cells, the others from `sample`, a state with the same plan numbers. */
  load(sample: S, cells: Float64Array, at: number, into: S): void
  /** Whether two states have the same plan numbers. */
  samePlan(one: S, other: S): boolean
  /** The plan numbers of a state. */
  planNumbers(state: S): readonly number[]
  /** Whether there is room for what the state keeps outside of the cells. Absent if there always is. For a new state, `at` is below 0. */
  fits?(state: S, cells: Float64Array, at: number): boolean
  /** Frees what the state keeps outside of the cells. */
  release?(cells: Float64Array, at: number): void
}
