import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { pglite, barePostgresStore } from '../../src/stores/postgres/index.ts'
import { storeSuite } from '../../src/testing.ts'
import { readRow } from './postgres-rows.ts'

let database: PGlite
const folder = mkdtempSync(join(tmpdir(), 'sluice-pglite-'))

storeSuite('pglite in a folder', {
  open: async () => {
    database = await PGlite.create(folder)
    const store = barePostgresStore({ client: pglite(database), sweepEveryMs: 0 })
    await store.migrate()
    return store
  },
  differentialCalls: 5_000,
  readState: (id) => readRow(pglite(database), id),
  close: async () => {
    await database.close()
    rmSync(folder, { recursive: true, force: true })
  },
})
