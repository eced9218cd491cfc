import { StoreFailure } from '../store.ts'
import type { Statement } from './lanes.ts'
import type { PostgresPort, Row } from './clients/postgres-port.ts'

/**
 * Reads settings of the server. Whether it is read-only, because a call that charges nothing succeeds there too (also `on` for a standby);
 * and the time after which it ends a statement.
 */
const text = `select current_setting('transaction_read_only') as reply, current_setting('statement_timeout') as timeout`
export const SETTINGS: Statement = { text, bounded: text }

/**
 * Refuses a read-only server.
 * @param rows the reply to `SETTINGS`
 * @throws StoreFailure `readonly`
 */
export function refuseReadOnly([row]: readonly Row[]): void {
  if (row?.['reply'] === 'on') throw new StoreFailure('readonly', 'no', 'postgres: the server is read-only and can decide nothing')
}

/** Warns once, by `warn`, of connections whose statements the server never ends. An embedded database has none to lose. */
export function warnsOnce({ embedded = false }: PostgresPort, warn: (message: string) => void): (rows: readonly Row[]) => void {
  let warned = embedded
  return ([row]) => {
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
