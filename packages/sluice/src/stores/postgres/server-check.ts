import { callObserver } from '../../errors/call-observer.ts'
import { type CallOptions, StoreFailure } from '../store.ts'
import type { PostgresPort } from './clients/postgres-port.ts'
import type { Query } from './query.ts'

const RIGHTS = ['select', 'insert', 'update', 'delete']

/**
 * What `ready` checks after an empty decision, which succeeds also on read-only servers and standbys (`transaction_read_only` is `on`), and
 * without rights on the table. The returned function rejects with StoreFailure `readonly` or `setup`, and warns once if statement_timeout is
 * not set.
 */
export function serverCheck(
  client: PostgresPort,
  query: Query,
  table: string,
  warn: (message: string) => void,
): (options: CallOptions | undefined) => Promise<void> {
  const rights = RIGHTS.map((right) => `has_table_privilege('${table}', '${right}')`).join(' and ')
  const text = `select current_setting('transaction_read_only') as reply, current_setting('statement_timeout') as timeout, (${rights})::text as rights`
  let warned = client.embedded === true
  return async (options) => {
    const [row] = await query({ text, bounded: text }, [], options, 'none')
    if (row?.['reply'] === 'on') throw new StoreFailure('readonly', 'no', 'postgres: the server is read-only and can decide nothing')
    if (row?.['rights'] === 'false') {
      throw new StoreFailure('setup', 'no', `postgres: the account lacks a right on ${table}, it needs ${RIGHTS.join(', ')}`)
    }
    if (warned || row?.['timeout'] !== '0') return
    warned = true
    callObserver(
      warn,
      'the PostgreSQL connections have no statement_timeout, so a statement that hangs keeps its connection; set it for the pool or the role, to 1s for example',
    )
  }
}
