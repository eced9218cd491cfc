import { type Engine, findPostgres, startPostgres } from '@sluice/scripts/engines'
import pgDriver from 'pg'
import { inject, onTestFinished } from 'vitest'
import { pg, type PostgresStore, barePostgresStore } from '../../src/stores/postgres/index.ts'
import { until } from './until.ts'

const found = inject('engines').postgres === undefined ? undefined : findPostgres()

/** Where there is no server program, faults cannot be made. */
export const noPostgres: boolean = found === undefined || 'missing' in found

/** Starts a PostgreSQL that one test has for itself. @param kept the folder and the port of a server that is started again later */
export async function privatePostgres(kept?: { readonly folder: string; readonly port: number }): Promise<Engine> {
  if (found === undefined || 'missing' in found) throw new Error('there is no PostgreSQL')
  return startPostgres(found.path, [], kept)
}

/** The same with tables and functions made. */
export async function migratedPostgres(): Promise<Engine> {
  const server = await privatePostgres()
  const pool = new pgDriver.Pool({ connectionString: server.url, max: 1 })
  await barePostgresStore({ client: pg(pool) }).migrate()
  await pool.end()
  return server
}

/** Makes the tables and functions of a store. Its pool gives up a connection that takes too long, so this is repeated until it is done. */
export async function migrated(store: PostgresStore): Promise<void> {
  await until('the tables are made', () => store.migrate().then(() => true))
}

/** A store over a pool with the settings that the documentation advises: if the server is lost, calls fail instead of waiting. */
export function pooled(url: string, max = 8, connectionTimeoutMillis = 500): { pool: pgDriver.Pool; store: PostgresStore } {
  const pool = new pgDriver.Pool({ connectionString: url, max, connectionTimeoutMillis })
  pool.on('error', () => {})
  onTestFinished(() => pool.end())
  return { pool, store: barePostgresStore({ client: pg(pool) }) }
}
