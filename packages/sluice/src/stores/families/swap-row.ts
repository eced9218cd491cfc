import type { AnyLimit } from '../../algorithms/algorithm.ts'
import type { Micros } from '../../time/micros.ts'
import type { StoreFailure } from '../store.ts'

/** A row of the backend: one state and its block. */
export interface SwapRow {
  /** Names the content of the row: each write of the row gives it another version. '0' if there is no row. */
  readonly version: string
  /** The numbers of the state, in the order of its algorithm's `codec`; empty if there is no state. */
  readonly numbers: readonly number[]
  /**
   * From this instant on the state is expired: it decides as if it were deleted. The row may be deleted when this instant and `until` have
   * both passed.
   */
  readonly expiresAt: Micros
  /** The end of the block: no call passes before this instant. 0 if there is no block. */
  readonly until: Micros
  /**
   * The tag (short name) of the algorithm that wrote the state; absent if the backend does not know it. Calls of another algorithm ignore
   * the state.
   */
  readonly tag?: string
  /** Set if this version of the library cannot read the row. Groups and changes of this state fail with this failure. */
  readonly failure?: StoreFailure
}

/** The row of a state that does not exist. */
export const ABSENT: SwapRow = { version: '0', numbers: [], expiresAt: 0, until: 0 }

/** The same row with another state. */
export function rowWith(row: SwapRow, { algorithm, plan }: AnyLimit, state: unknown): SwapRow {
  const numbers = algorithm.codec.encodeState(state)
  return { ...row, tag: algorithm.tag, numbers, expiresAt: algorithm.expiresAt(plan, algorithm.codec.decodeState(numbers)) }
}

/** The state of a row, if the limit's algorithm wrote it. */
export function stateOf({ algorithm }: AnyLimit, { numbers, tag = algorithm.tag }: SwapRow): unknown {
  return numbers.length === 0 || tag !== algorithm.tag ? undefined : algorithm.codec.decodeState(numbers)
}

export function rowOf(rows: ReadonlyMap<string, SwapRow>, id: string): SwapRow {
  return rows.get(id) ?? ABSENT
}
