import postgres from 'postgres'
import { describe, inject } from 'vitest'
import { postgresJs, barePostgresStore } from '../../src/stores/postgres/index.ts'
import { storeSuite } from '../../src/testing.ts'
import { readRow, schema } from './postgres-rows.ts'

const { postgres: url } = inject('engines')

describe.skipIf(url === undefined)('PostgreSQL through postgres.js', () => {
  const own = schema(url)
  const sql = postgres(url ?? '', { max: 8, connection: { search_path: own.name }, onnotice: () => {} })
  storeSuite('postgres-js', {
    open: async () => {
      await own.create()
      const store = barePostgresStore({ client: postgresJs(sql), sweepEveryMs: 0 })
      await store.migrate()
      return store
    },
    differentialCalls: 20_000,
    readState: (id) => readRow(postgresJs(sql), id),
    close: async () => {
      await sql.end()
      await own.drop()
    },
  })
})
