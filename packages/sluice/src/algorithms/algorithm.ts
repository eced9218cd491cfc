import type { Micros } from '../time/micros.ts'

/** Short name of an algorithm, and part of every state's id. */
export type AlgorithmTag = 'tb' | 'fw' | 'sc' | 'sl' | 'cc'
export type AlgorithmName = 'token-bucket' | 'fixed-window' | 'sliding-window-counter' | 'sliding-window-log' | 'concurrency'

/** Frozen, and shared by all its keys. */
export interface CompiledLimit<P = unknown, S = unknown> {
  /** How the limit counts. */
  readonly algorithm: Algorithm<P, S>
  /** The limit as whole numbers, in the algorithm's own form. */
  readonly plan: P
  /** The most tokens that one call can ever get. */
  readonly capacity: number
  /** Milliseconds over which the capacity is replenished (parameter `w` of the header field RateLimit-Policy). */
  readonly windowMs: number
  /** Whether decisions depend on `phaseOf(key)`. If not, callers may pass a phase of 0. */
  readonly phased: boolean
  /** Set if the limit starts low in each window and grows: a call that would pass now may be denied when the next window begins. */
  readonly ramped?: true
  /** Set if calls may be charged before their tokens are refilled. */
  readonly ahead?: true
}

/** A limit of any algorithm. */
// oxlint-disable-next-line typescript/no-explicit-any -- plan and state always come from the limit's own algorithm
export type AnyLimit = CompiledLimit<any, any>

/** `impossible`: the call would not pass, however long its caller waits. */
export type CallOutcome = 'allowed' | 'denied' | 'impossible'

/** What a key has left of a limit at one instant. All times are microseconds from that instant. */
export interface View {
  /** Whole tokens that a call could take now. */
  remaining: number
  /** Time until one more whole token is available. If `remaining` plus one exceeds the capacity, the same as `resetAfter`. */
  replenishAfter: Micros
  /** Time until the key equals an unused key, if nothing is charged meanwhile. */
  resetAfter: Micros
}

/** A caller may pass the object to `decide` again, which saves an allocation. */
export interface Step<S> extends View {
  outcome: CallOutcome
  /**
   * Microseconds. Denied: the least wait after which the call would pass. Charged before its tokens are refilled: the time until they are.
   * Otherwise 0.
   */
  retryAfter: Micros
  /** `next` if charged, otherwise the state that was passed in. */
  state: S | undefined
  /** The kernel writes a charged state here. */
  readonly next: S
}

/** A holder that takes a slot of a concurrency limit. */
export interface HoldRequest {
  /** Any text. Calls with the same id share one slot. */
  readonly id: string
  /** Microseconds until the slot ends by itself. Default: the limit's `holdMs`. */
  readonly micros?: Micros
}

/** What a holder of a slot got. */
export interface Grant {
  /** Store time at which the slot ends, microseconds since 1970. */
  readonly until: Micros
  /** A fencing token: greater than in every earlier grant of this state. */
  readonly fence: number
  /** Set if the holder had its slot already. */
  readonly again?: true
}

/** Whole millionths of a token. */
export type MicroTokens = number

/**
 * A pure algorithm in whole numbers, without clock or I/O. Programs in Lua and SQL must return exactly what `decide` returns. Methods that
 * return a state return the same object if nothing changes. `phase` is what `phaseOf` returned for the key.
 */
export interface Algorithm<P, S> {
  readonly name: AlgorithmName
  readonly tag: AlgorithmTag
  /** A hash of the key, below 2^32, by which its windows are shifted. It has no secret, so that all processes compute the same. */
  phaseOf?(key: string): number
  /** Creates a step to pass to `decide`. */
  step(): Step<S>
  /**
   * @param state written under this plan, or converted to it by `adopt`; it is not modified
   * @param cost above 0
   */
  decide(plan: P, state: S | undefined, now: Micros, cost: MicroTokens, phase: number, into?: Step<S>): Step<S>
  /** Converts a state that another plan wrote, without creating tokens (law 7 in ARCHITECTURE.md). Undefined: an unused key's state. */
  adopt(plan: P, state: S, now: Micros, phase: number): S | undefined
  /**
   * Gives back an amount above 0, at most up to an unused key's state (undefined). Takes an amount below 0 even if the tokens are not
   * there, down to one capacity below empty.
   * @param receipt store time of the refunded charge; if its window has ended, nothing is given back
   */
  adjust(plan: P, state: S | undefined, now: Micros, amount: MicroTokens, phase: number, receipt?: Micros): S | undefined
  view(plan: P, state: S | undefined, now: Micros, phase: number): View
  /** A plan that charges calls up to `most` microseconds before their tokens are refilled. States do not depend on `most`. */
  ahead?(plan: P, most: Micros): P
  /**
   * Gives back the charge of a call that will not start, less what other calls were charged after it. Undefined: an unused key's state.
   * @param state as stored, not converted by `adopt`
   * @param charged the state right after the charge
   */
  leave?(plan: P, state: S | undefined, now: Micros, cost: MicroTokens, charged: S): S | undefined
  /** The plan with which `decide` gives this holder a slot. Waits are upper bounds, because any holder may give its slot back early. */
  holding?(plan: P, hold: HoldRequest): P
  /** What the plan's holder was granted. Undefined if the plan has no holder, or the holder no slot. */
  granted?(plan: P, state: S): Grant | undefined
  /**
   * Gives back the holder's slot, if it has one. Undefined: an unused key's state.
   * @param state as stored, not converted by `adopt`
   */
  release?(plan: P, state: S | undefined, now: Micros, id: string): S | undefined
  /**
   * Extends the holder's slot, if it has one, to `hold.micros` from now. Never shortens it.
   * @param state as stored, not converted by `adopt`
   */
  prolong?(plan: P, state: S | undefined, now: Micros, hold: Required<HoldRequest>): S | undefined
  /**
   * Gives back what a call did not use of its charge, or charges what it used in addition, down to one capacity below empty.
   * @param state written under this plan, or converted to it by `adopt`
   */
  settle?(plan: P, state: S | undefined, now: Micros, hold: HeldCharge, phase: number): Settled<S>
  /** Computes `HeldCharge.mark` from the state right after the charge. Absent if `settle` needs no mark. */
  markOf?(state: S): number
  /** Only for hold records (`hold-record.ts`): writes into the record what the calls before it in the group were charged. */
  note?(plan: P, state: S, before: readonly Charged[]): S
  /** The first instant from which the state decides as an unused key's does (law 6 in ARCHITECTURE.md). */
  expiresAt(plan: P, state: S): Micros
  /** The exact bound on what the limit may admit over every interval (law 5 in ARCHITECTURE.md). */
  envelope(plan: P): Envelope
  readonly codec: Codec<P, S>
  /** How the memory store keeps states in a table of numbers; `log` if the size of states varies. */
  readonly cells: Cells<S> | 'log'
  /** Makes the `Cells` for states whose size varies. Programs without such limits do not load its code. */
  readonly logCells?: (bounds: CellBounds) => Cells<S>
}

/** Bounds on what states keep outside of their rows. */
export interface CellBounds {
  readonly maxBytes: number
  readonly maxHolds: number
}

export interface Charged {
  readonly limit: AnyLimit
  readonly state: unknown
}

/** The charge of a hold that is being settled. */
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
  /** Undefined if it equals an unused key's state; the same object if nothing changes. */
  readonly state: S | undefined
  /** What the limit counts for the call from now on. */
  readonly charged: MicroTokens
}

/**
 * At most `burst + n / m * t` micro-tokens pass in every interval of t microseconds. For concurrency limits n is 0: at most `burst` are
 * held at any instant.
 */
export interface Envelope {
  readonly n: number
  readonly m: Micros
  readonly burst: number
}

/** Encodes plans and states as whole numbers. */
export interface Codec<P, S> {
  encodePlan(plan: P): readonly number[]
  /** In the order that docs/algorithms documents. */
  encodeState(state: S): readonly number[]
  /** @param plan becomes the state's plan if it has the same numbers */
  decodeState(numbers: readonly number[], plan?: P): S
}

/** Keeps states in a table of numbers. Numbers that follow from the plan (plan numbers) are kept once for all states that share them. */
export interface Cells<S> {
  /** How many numbers each state has of its own. */
  readonly width: number
  /** Writes the state's own numbers from `at` on. In a new row these cells are 0. */
  save(state: S, cells: Float64Array, at: number): void
  /** Fills `into` from the cells and from `sample`, a state with the same plan numbers. */
  load(sample: S, cells: Float64Array, at: number, into: S): void
  samePlan(one: S, other: S): boolean
  planNumbers(state: S): readonly number[]
  /** Whether there is memory for what the state keeps outside of the cells. For a new state, `at` is below 0. */
  fits?(state: S, cells: Float64Array, at: number): boolean
  /** Frees what the state keeps outside of the cells. */
  release?(cells: Float64Array, at: number): void
}
