import type { AnyLimit } from '../../algorithms/algorithm.ts'
import type { Micros } from '../../time/micros.ts'

/** Another limit for one key of one rule; it replaces the limit of every tier. */
export interface Override {
  readonly rule: string
  /** The values of the rule's key in their order; undefined for absent ones. */
  readonly values: readonly (string | undefined)[]
  readonly limit: AnyLimit
  /** The first instant at which it is no longer in force; absent: no end. */
  readonly until?: Micros
}
