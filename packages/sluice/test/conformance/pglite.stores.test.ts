import { PGlite } from '@electric-sql/pglite'
import { pglite, type PostgresStore, barePostgresStore } from '../../src/stores/postgres/index.ts'
import { storeSuite } from '../../src/testing.ts'
import { readRow } from './postgres-rows.ts'

let database: PGlite
let store: PostgresStore

storeSuite('pglite', {
  open: async () => {
    database = await PGlite.create()
    store = barePostgresStore({ client: pglite(database), sweepEveryMs: 0 })
    await store.migrate()
    return store
  },
  differentialCalls: 20_000,
  ownClockCalls: 1_000,
  sweep: () => store.sweep(),
  readState: (id) => readRow(pglite(database), id),
  close: () => database.close(),
})
