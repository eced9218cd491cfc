import pgDriver from 'pg'
import { describe, inject } from 'vitest'
import { barePostgresStore, pg } from '../../src/stores/postgres/index.ts'
import { storeSuite } from '../../src/testing.ts'
import { readRow, schema } from './postgres-rows.ts'
import { around } from './rings.ts'

const { postgres: url } = inject('engines')

describe.skipIf(url === undefined).each(around)('%s', (name, exact, wrap) => {
  const own = schema(url)
  const pool = new pgDriver.Pool({ connectionString: url, max: 8, options: `-c search_path=${own.name}` })
  storeSuite(`${name} around PostgreSQL`, {
    open: async () => {
      await own.create()
      const store = barePostgresStore({ client: pg(pool), sweepEveryMs: 0 })
      await store.migrate()
      return wrap(store)
    },
    readState: (id) => readRow(pg(pool), id),
    close: async () => {
      await pool.end()
      await own.drop()
    },
    differentialCalls: 3_000,
    ownClockCalls: exact ? 1_000 : 0,
  })
})
