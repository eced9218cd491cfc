import pgDriver from 'pg'
import { describe, inject } from 'vitest'
import { pg, type PostgresStore, barePostgresStore } from '../../src/stores/postgres/index.ts'
import { storeSuite } from '../../src/testing.ts'
import { readRow, schema } from './postgres-rows.ts'
import { draws } from '../draws.ts'

const { postgres: url } = inject('engines')

describe.skipIf(url === undefined)('PostgreSQL', () => {
  const own = schema(url)
  const pool = new pgDriver.Pool({ connectionString: url, max: 8, options: `-c search_path=${own.name}` })
  let store: PostgresStore
  storeSuite('postgres', {
    open: async () => {
      await own.create()
      store = barePostgresStore({ client: pg(pool), sweepEveryMs: 0 })
      await store.migrate()
      return store
    },
    differentialCalls: draws(100_000, 1_000),
    ownClockCalls: draws(3_000, 500),
    sweep: () => store.sweep(),
    readState: (id) => readRow(pg(pool), id),
    close: async () => {
      await pool.end()
      await own.drop()
    },
  })
})
