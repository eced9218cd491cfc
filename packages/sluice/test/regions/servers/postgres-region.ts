import { startPostgres } from '@sluice/scripts/engines'
import pgDriver from 'pg'
import { pg, postgresStore } from '../../../src/postgres.ts'
import type { RegionServer } from './redis-region.ts'

/** A region with one process on a PostgreSQL server. @param initdb the program */
export async function postgresRegion(initdb: string): Promise<RegionServer> {
  const server = await startPostgres(initdb)
  const pool = new pgDriver.Pool({ connectionString: server.url, max: 8, connectionTimeoutMillis: 500 })
  pool.on('error', () => {})
  const store = postgresStore({ client: pg(pool), onWarning: () => {}, ring: { deadline: '2s' } })
  await store.migrate()
  return {
    kind: 'PostgreSQL',
    stores: [store],
    async stop() {
      await pool.end()
      await server.stop()
    },
  }
}
