import { StoreFailure } from '../store.ts'
import type { Row } from './asking.ts'

/** What charges nothing also runs on a server that may not write: whether it may is asked apart. Also `on` where the server is a standby. */
export const READ_ONLY = `select current_setting('transaction_read_only') as reply`

/**
 * @param rows the answer to `READ_ONLY`
 * @throws StoreFailure `readonly`
 */
export function refuseReadOnly([row]: readonly Row[]): void {
  if (row?.['reply'] === 'on') throw new StoreFailure('readonly', 'no', 'postgres: the server is read-only and can decide nothing')
}
