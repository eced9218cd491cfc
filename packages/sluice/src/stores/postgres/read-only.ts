import { StoreFailure } from '../store.ts'
import type { Row } from './asking.ts'

/** Reads whether the server is read-only, because a call that charges nothing succeeds there too. Also `on` for a standby. */
export const READ_ONLY = `select current_setting('transaction_read_only') as reply`

/**
 * Refuses a read-only server.
 * @param rows the reply to `READ_ONLY`
 * @throws StoreFailure `readonly`
 */
export function refuseReadOnly([row]: readonly Row[]): void {
  if (row?.['reply'] === 'on') throw new StoreFailure('readonly', 'no', 'postgres: the server is read-only and can decide nothing')
}
