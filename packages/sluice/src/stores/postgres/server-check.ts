import { StoreFailure } from '../store.ts'
import type { Statement } from './lanes.ts'
import type { PostgresPort, Row } from './clients/postgres-port.ts'

/** Whether the server is read-only (also `on` for a standby): a peek succeeds there too. And the time after which it ends a statement. */
const text = `select current_setting('transaction_read_only') as reply, current_setting('statement_timeout') as timeout`
export const SETTINGS: Statement = { text, bounded: text }

/** Checks the reply to `SETTINGS`; warns once of a missing statement_timeout. The check throws StoreFailure `readonly`. */
export function serverCheck({ embedded = false }: PostgresPort, warn: (message: string) => void): (rows: readonly Row[]) => void {
  let warned = embedded
  return ([row]) => {
    if (row?.['reply'] === 'on') throw new StoreFailure('readonly', 'no', 'postgres: the server is read-only and can decide nothing')
    if (warned || row?.['timeout'] !== '0') return
    warned = true
    warn(
      'sluice: the PostgreSQL connections have no statement_timeout, so a statement that hangs keeps its connection; set it for the pool or the role, to 1s for example',
    )
  }
}

/** Warns on the console, where there is one. */
export function consoleWarning(message: string): void {
  ;(globalThis as { console?: { warn(message: string): void } }).console?.warn(message)
}
