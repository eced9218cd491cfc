import type { AnyLimit } from '../../algorithms/algorithm.ts'
import type { Micros } from '../../time/micros.ts'
import type { StoreFailure } from '../store.ts'

/** A row of the backend: one state and its block. */
export interface SwapRow {
  /** Each write gives the row another version. '0' if there is no row. */
  readonly version: string
  /** In the order of the algorithm's `codec`; empty if there is no state. */
  readonly numbers: readonly number[]
  /** The state may be deleted from this instant on, and the row if `until` has passed too. */
  readonly expiresAt: Micros
  /** The end of the key's block; 0 for none. */
  readonly until: Micros
  /** The tag of the algorithm that wrote the state; absent if unknown. Calls of another algorithm ignore the state. */
  readonly tag?: string
  /** Set if this version of the library cannot read the row. Groups with a call of this state, and changes of the state, then fail. */
  readonly failure?: StoreFailure
}

export const ABSENT: SwapRow = { version: '0', numbers: [], expiresAt: 0, until: 0 }

export function rowWith(row: SwapRow, { algorithm, plan }: AnyLimit, state: unknown): SwapRow {
  const numbers = algorithm.codec.encodeState(state)
  return { ...row, tag: algorithm.tag, numbers, expiresAt: algorithm.expiresAt(plan, algorithm.codec.decodeState(numbers)) }
}

/** Undefined unless the limit's algorithm wrote the state. */
export function stateOf({ algorithm }: AnyLimit, { numbers, tag = algorithm.tag }: SwapRow): unknown {
  return numbers.length === 0 || tag !== algorithm.tag ? undefined : algorithm.codec.decodeState(numbers)
}

export function rowOf(rows: ReadonlyMap<string, SwapRow>, id: string): SwapRow {
  return rows.get(id) ?? ABSENT
}
