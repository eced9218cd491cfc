import type { Escrow } from './escrow.ts'

/** T, or a promise of it. */
type Later<T> = T | Promise<T>

/** What a replicator needs of escrow: over a store in this process at once, over another one with promises. */
export type Ledger = Pick<Escrow, 'region' | 'cells' | 'limitIn' | 'transfers'> & {
  readonly [Name in 'unitsOf' | 'rowsOf' | 'give' | 'page' | 'receive' | 'update']: (
    ...args: Parameters<Escrow[Name]>
  ) => Later<ReturnType<Escrow[Name]>>
}
