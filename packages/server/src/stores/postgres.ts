import type { ClientBase, Pool } from 'pg'
import { type Opening, SILENCE_MS } from './opening.ts'
import { configOf } from './postgres-config.ts'

/** A store on a pool that drops a connection when it falls silent. */
export async function postgres(url: string, connectMs: number, space: string | undefined, folder: string): Promise<Opening> {
  const [{ default: driver }, { pg, postgresStore }] = await Promise.all([import('pg'), import('sluice/postgres')])
  const bounds = { max: 16, connectionTimeoutMillis: connectMs, query_timeout: 2 * SILENCE_MS }
  // Sets the search path by a statement, because the URL may have options of its own.
  const place =
    space === undefined ? {} : { onConnect: (client: ClientBase) => client.query(`set search_path to ${space}`) as unknown as void }
  const pool = new driver.Pool({ ...configOf(url, folder), ...bounds, ...place })
  const clients = new Set<InstanceType<typeof driver.Client>>()
  pool.on('connect', (client) => client instanceof driver.Client && clients.add(client))
  pool.on('remove', (client) => client instanceof driver.Client && clients.delete(client))
  // The pool replaces a lost idle connection; the next call reports a lasting failure.
  pool.on('error', () => {})
  // Without its warning of a missing statement_timeout: this pool drops a connection after `query_timeout`.
  const store = postgresStore({ client: pg(pool), ring: false, onWarning: () => {} })
  return {
    store,
    keeps: 'limits are kept and shared by all processes on this database',
    begin: async () => {
      if (space !== undefined) await pool.query(`create schema if not exists ${space}`)
      await store.migrate()
    },
    migrate: store.migrate,
    advise: () => adviceOn(pool),
    discard: async () => {
      if (space !== undefined) await pool.query(`drop schema if exists ${space} cascade`)
    },
    close: async () => {
      const ended = pool.end()
      // The pool alone would wait for an answer that may never come.
      for (const client of clients) client.end(() => {})
      await ended
    },
  }
}

/** Warnings about the server's settings; none if it does not answer. */
async function adviceOn(pool: Pool): Promise<readonly string[]> {
  const query = `select pg_is_in_recovery() as standby, current_setting('transaction_read_only') = 'on' as closed`
  const { rows } = await pool.query<{ standby: boolean; closed: boolean }>(query).catch(() => ({ rows: [] }))
  if (rows[0]?.standby === true) return ['is a read-only standby, which can decide nothing; name its primary']
  return rows[0]?.closed === true ? ['is read-only by default_transaction_read_only, and can decide nothing; set it to off'] : []
}
