import type { AnyLimit } from '../algorithms/algorithm.ts'
import type { Micros } from '../time/micros.ts'

/** Another limit for one key of one rule, in every tier of it. */
export interface Override {
  readonly rule: string
  /** The values of the rule's key in their order, absent ones as undefined. */
  readonly values: readonly (string | undefined)[]
  readonly limit: AnyLimit
  /** The first instant at which it holds no more; absent: for good. */
  readonly until?: Micros
}
