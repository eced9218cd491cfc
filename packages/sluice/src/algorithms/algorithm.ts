import type { Micros } from '../time/micros.ts'

/** Short name of an algorithm. It is part of every state's id; a store checks it before it passes a limit to its program. */
export type AlgorithmTag = 'tb' | 'fw' | 'sc' | 'sl'
export type AlgorithmName = 'token-bucket' | 'fixed-window' | 'sliding-window-counter' | 'sliding-window-log'

/** A validated limit: an algorithm, its plan, and the figures that decisions and headers report. Frozen; shared by all its keys. */
export interface CompiledLimit<P = unknown, S = unknown> {
  readonly algorithm: Algorithm<P, S>
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
  /** Time until one more whole token is available; 0 if none is to come. */
  replenishAfter: Micros
  /** Time until the state is fresh. */
  resetAfter: Micros
}

/**
 * One decision, as an object that the kernel fills. A caller that no longer needs it may pass it to `decide` again; this avoids an
 * allocation.
 */
export interface Step<S> extends View {
  outcome: CallOutcome
  /** The least wait that is enough: a microsecond less is not. 0 unless denied. */
  retryAfter: Micros
  /** The state after the call: `next` if the call is charged, otherwise the state that was passed in. */
  state: S | undefined
  /** The kernel writes a charged state here. */
  readonly next: S
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
  /** The first instant from which the state is expired: it decides as the initial state does (law 6). */
  expiresAt(plan: P, state: S): Micros
  /** The exact bound on what the limit may admit over every interval (law 5). */
  envelope(plan: P): Envelope
  readonly codec: Codec<P, S>
  /** How a table of numbers keeps states; `log` if their size varies. */
  readonly cells: Cells<S> | 'log'
  /** Of a log: its cells for one table, with at most `maxBytes` of entries. Only algorithms that have logs bring this code. */
  readonly logCells?: (maxBytes: number) => Cells<S>
}

/** Admits at most `burst + n / m * t` micro-tokens over every interval of t microseconds. */
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
  /** Writes the own numbers. The cells of a new state are 0. */
  save(state: S, cells: Float64Array, at: number): void
  /** Reads the own numbers from the cells and the others from `sample`, a state with the same plan numbers. */
  load(sample: S, cells: Float64Array, at: number, into: S): void
  /** Whether two states have the same plan numbers. */
  samePlan(one: S, other: S): boolean
  /** The numbers that follow from the state's plans. */
  planNumbers(state: S): readonly number[]
  /** Whether what the state keeps outside of the cells fits; always if absent. For a new state `at` is below 0. */
  fits?(state: S, cells: Float64Array, at: number): boolean
  /** Frees what the state keeps outside of the cells. */
  release?(cells: Float64Array, at: number): void
}
