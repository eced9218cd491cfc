import type { ClientBase } from 'pg'
import { type Opening, SILENCE_MS } from './opening.ts'
import { configOf } from './postgres-config.ts'

/** A pool whose connections are given up when they fall silent. */
export async function postgres(url: string, connectMs: number, space: string | undefined, folder: string): Promise<Opening> {
  const [{ default: driver }, { pg, postgresStore }] = await Promise.all([import('pg'), import('sluice/postgres')])
  const bounds = { max: 16, connectionTimeoutMillis: connectMs, query_timeout: 2 * SILENCE_MS }
  // By a statement, since the URL may bring options of its own.
  const place =
    space === undefined ? {} : { onConnect: (client: ClientBase) => client.query(`set search_path to ${space}`) as unknown as void }
  const pool = new driver.Pool({ ...configOf(url, folder), ...bounds, ...place })
  const clients = new Set<InstanceType<typeof driver.Client>>()
  pool.on('connect', (client) => client instanceof driver.Client && clients.add(client))
  pool.on('remove', (client) => client instanceof driver.Client && clients.delete(client))
  // A lost idle connection is replaced by the pool; the next call says what it finds.
  pool.on('error', () => {})
  const store = postgresStore({ client: pg(pool) })
  return {
    store,
    keeps: 'limits are kept and shared by all processes on this database',
    begin: async () => {
      if (space !== undefined) await pool.query(`create schema if not exists ${space}`)
      await store.migrate()
    },
    migrate: store.migrate,
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
