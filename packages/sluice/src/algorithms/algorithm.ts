import type { Micros } from '../time/micros.ts'

/** Short name of an algorithm: part of every state's id, and what a store checks before it hands a limit to its program. */
export type AlgorithmTag = 'tb' | 'fw' | 'sc' | 'sl'
export type AlgorithmName = 'token-bucket' | 'fixed-window' | 'sliding-window-counter' | 'sliding-window-log'

/** A validated limit: an algorithm with its plan, and what people are told about it. Frozen; shared by all its keys. */
export interface CompiledLimit<P = unknown, S = unknown> {
  readonly algorithm: Algorithm<P, S>
  readonly plan: P
  /** Most tokens one call can ever get. */
  readonly capacity: number
  /** Milliseconds over which the capacity is replenished (header `w`). */
  readonly windowMs: number
  /** Whether decisions depend on the key's phase; others may be given 0. */
  readonly phased: boolean
  /** Set where a call that would pass now may be denied later though nobody calls: the limit begins low again after each reset. */
  readonly ramped?: true
}

/** A limit whose kernel the holder does not know: stores, groups and limiters treat all alike. */
// oxlint-disable-next-line typescript/no-explicit-any -- plan and state always come from the limit's own algorithm
export type AnyLimit = CompiledLimit<any, any>

/** How one call ended. `impossible`: no waiting can help. */
export type CallOutcome = 'allowed' | 'denied' | 'impossible'

/** What a limit looks like to one key at one instant; times are microseconds from that instant. */
export interface View {
  /** Whole tokens that a call could take now. */
  remaining: number
  /** Until one more whole token; 0 when there is none to come. */
  replenishAfter: Micros
  /** Until the state is as fresh as none. */
  resetAfter: Micros
}

/**
 * One decision, as an object that the kernel fills: a caller that has no use for it afterwards hands it in again, and nothing is
 * allocated.
 */
export interface Step<S> extends View {
  outcome: CallOutcome
  /** Waiting exactly this long is enough, a microsecond less is not; 0 unless denied. */
  retryAfter: Micros
  /** The state after the call: `next` if it is charged, otherwise the state that was given. */
  state: S | undefined
  /** Where the kernel writes a charged state. */
  readonly next: S
}

/** Micro-tokens: whole millionths of a token, the unit kernels and stores count costs in. */
export type MicroTokens = number

/**
 * One algorithm: a frozen value without memory, clock or I/O, in whole numbers only. `decide` is the law; a program of a store
 * may replace it and must replay it exactly. `phase` is a number below 2^32 that belongs to the key.
 */
export interface Algorithm<P, S> {
  readonly name: AlgorithmName
  readonly tag: AlgorithmTag
  readonly version: number
  /** A step to hand to `decide`. */
  step(): Step<S>
  /**
   * Whether a call of this cost may pass now, and the state after it. `state` is in the plan's unit and is not touched.
   * @param cost above 0
   */
  decide(plan: P, state: S | undefined, now: Micros, cost: MicroTokens, phase: number, into?: Step<S>): Step<S>
  /** The state in the plan's unit (law 7); the same object where the unit is the same; undefined where it is as fresh as none. */
  adopt(plan: P, state: S, now: Micros, phase: number): S | undefined
  /**
   * The state with an amount given back (above 0, never beyond fresh) or taken without asking (below 0, never more than one
   * capacity under empty); the same state where nothing changes, undefined where it is as fresh as none.
   * @param receipt store time of the charge that is given back: nothing is where its window has ended
   */
  adjust(plan: P, state: S | undefined, now: Micros, amount: MicroTokens, phase: number, receipt?: Micros): S | undefined
  view(plan: P, state: S | undefined, now: Micros, phase: number): View
  /** First instant from which the state decides like none (law 6). */
  expiresAt(plan: P, state: S): Micros
  /** What the limit may admit over every interval (law 5), exactly. */
  envelope(plan: P): Envelope
  readonly codec: Codec<P, S>
  readonly cells: Cells<S> | 'log'
}

/** At most `burst + n / m * t` micro-tokens over every interval of t microseconds. */
export interface Envelope {
  readonly n: number
  readonly m: Micros
  readonly burst: number
}

/** The same plan and state as whole numbers: arguments of a program, columns of a table, fields of a value. */
export interface Codec<P, S> {
  encodePlan(plan: P): readonly number[]
  /** In the algorithm's documented order; see docs/algorithms. */
  encodeState(state: S): readonly number[]
  decodeState(numbers: readonly number[]): S
}

/**
 * How a table keeps many states: the numbers that each state has of its own, and those that many share because they say in
 * which plan's unit the others count.
 */
export interface Cells<S> {
  /** Own numbers of a state, at most three. */
  readonly width: number
  save(state: S, cells: Float64Array, at: number): void
  /** Own numbers from the cells, the rest from a state of the same unit. */
  load(unit: S, cells: Float64Array, at: number, into: S): void
  sameUnit(one: S, other: S): boolean
  /** The numbers that make two units the same. */
  unit(state: S): readonly number[]
}
