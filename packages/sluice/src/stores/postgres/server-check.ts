import { StoreFailure } from '../store.ts'
import type { Statement } from './lanes.ts'
import type { PostgresPort, Row } from './clients/postgres-port.ts'

/**
 * Reads two settings of the server. `transaction_read_only` is `on` for a read-only server and for a standby. It is read because the
 * empty decision that `ready` makes first writes nothing, and so succeeds on such a server too. `statement_timeout` is the time after which
 * the server ends a statement.
 */
const text = `select current_setting('transaction_read_only') as reply, current_setting('statement_timeout') as timeout`
export const SETTINGS: Statement = { text, bounded: text }

/**
 * Returns a function that checks the reply to `SETTINGS`. The function throws StoreFailure `readonly` if the server is read-only, and warns
 * once if statement_timeout is not set.
 */
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
