import pgDriver from 'pg'
import { describe, inject } from 'vitest'
import { pg, type PostgresStore, barePostgresStore } from '../../src/stores/postgres/index.ts'
import { digestOf } from '../../src/stores/postgres/encode.ts'
import { storeSuite } from '../../src/testing.ts'
import { schema } from './postgres-rows.ts'

const { postgres: url } = inject('engines')

describe.skipIf(url === undefined)('the path of YugabyteDB and CockroachDB, on PostgreSQL', () => {
  const own = schema(url)
  const pool = new pgDriver.Pool({ connectionString: url, max: 8, options: `-c search_path=${own.name}` })
  let store: PostgresStore
  storeSuite('postgres-swap', {
    open: async () => {
      await own.create()
      store = barePostgresStore({ client: pg(pool), concurrency: 'compare-and-swap', sweepEveryMs: 0 })
      await store.migrate()
      return store
    },
    differentialCalls: 20_000,
    ownClockCalls: 1_000,
    sweep: () => store.sweep(),
    readState: async (id) => {
      const { rows } = await pool.query<{ numbers: string }>(`select numbers from sluice_swap where id = $1 and numbers <> ''`, [
        digestOf(id),
      ])
      return rows[0]?.numbers.split(' ').map(Number)
    },
    close: async () => {
      await pool.end()
      await own.drop()
    },
  })
})
