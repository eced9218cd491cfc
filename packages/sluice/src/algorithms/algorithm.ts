import type { Micros } from '../time/micros.ts'

/** Short name of an algorithm: part of every state's id, and what a store checks before it hands a limit to its program. */
export type AlgorithmTag = 'tb'
export type AlgorithmName = 'token-bucket'

/** A validated limit: an algorithm with its plan, and what people are told about it. Frozen; shared by all its keys. */
export interface CompiledLimit<P = unknown, S = unknown> {
  readonly algorithm: Algorithm<P, S>
  readonly plan: P
  /** Most tokens one call can ever get. */
  readonly capacity: number
  /** Milliseconds over which the capacity is replenished (header `w`). */
  readonly windowMs: number
}

/** A limit whose kernel the holder does not know: stores, groups and limiters treat all alike. */
// oxlint-disable-next-line typescript/no-explicit-any -- plan and state always come from the limit's own algorithm
export type AnyLimit = CompiledLimit<any, any>

/** How one call ended. `impossible`: no waiting can help. */
export type CallOutcome = 'allowed' | 'denied' | 'impossible'

/** What a bucket looks like at one instant; times are microseconds from that instant. */
export interface View {
  /** Whole tokens that a call could take now. */
  readonly remaining: number
  /** Until one more whole token; 0 when there is none to come. */
  readonly replenishAfter: Micros
  /** Until the state is as fresh as none. */
  readonly resetAfter: Micros
}

export interface Step<S> extends View {
  readonly outcome: CallOutcome
  /** Waiting exactly this long is enough, a microsecond less is not; 0 unless denied. */
  readonly retryAfter: Micros
  /** The state after the call if it is charged; otherwise the state before it, in the plan's own unit. */
  readonly state: S | undefined
}

/**
 * One algorithm: a frozen, pure value. No clock, no I/O, whole numbers only. `decide` is the law; a program of a store may
 * replace it and must replay it exactly.
 */
export interface Algorithm<P, S> {
  readonly name: AlgorithmName
  readonly tag: AlgorithmTag
  readonly version: number
  /** The state in the plan's unit (law 7); the same object where the unit is the same; undefined where it is as fresh as none. */
  adopt(plan: P, state: S, now: Micros): S | undefined
  /** `cost` in tokens, at most six decimals, above 0. */
  decide(plan: P, state: S | undefined, now: Micros, cost: number): Step<S>
  view(plan: P, state: S | undefined, now: Micros): View
  /** First instant from which the state decides like none (law 6). */
  expiresAt(plan: P, state: S): Micros
  /** What the limit may admit over every interval (law 5), exactly. */
  envelope(plan: P): Envelope
  readonly codec: Codec<P, S>
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
  /** In the algorithm's documented order; see docs/algorithms.md. */
  encodeState(state: S): readonly number[]
  decodeState(numbers: readonly number[]): S
}
