import { StoreFailure } from '../store.ts'
import type { Statement } from './lanes.ts'
import type { PostgresPort, Row } from './clients/postgres-port.ts'

/** `transaction_read_only` is `on` for read-only servers and standbys. The empty decision that `ready` makes first succeeds there too. */
const text = `select current_setting('transaction_read_only') as reply, current_setting('statement_timeout') as timeout`
export const SETTINGS: Statement = { text, bounded: text }

/** The returned function throws StoreFailure `readonly`, and warns once if statement_timeout is not set. */
export function serverCheck(client: PostgresPort, warn: (message: string) => void): (rows: readonly Row[]) => void {
  let warned = client.embedded === true
  return ([row]) => {
    if (row?.['reply'] === 'on') throw new StoreFailure('readonly', 'no', 'postgres: the server is read-only and can decide nothing')
    if (warned || row?.['timeout'] !== '0') return
    warned = true
    warn(
      'the PostgreSQL connections have no statement_timeout, so a statement that hangs keeps its connection; set it for the pool or the role, to 1s for example',
    )
  }
}
