import { mkdirSync, rmSync } from 'node:fs'
import type { Opener } from './opening.ts'

/** A database in this process. Opening has no deadline, because it takes as long as the machine takes. */
export const pglite: Opener = async ({ url, space }) => {
  const folder = url.slice('pglite:'.length)
  const [{ PGlite }, driver] = await Promise.all([import('@electric-sql/pglite'), import('sluice/postgres')])
  const made = folder === '' ? undefined : mkdirSync(folder, { recursive: true })
  const database = folder === '' ? await PGlite.create() : await PGlite.create(folder)
  const store = driver.postgresStore({ client: driver.pglite(database), ring: false, onWarning: () => {} })
  return {
    store,
    keeps: folder === '' ? 'limits are gone on restart' : `limits are kept in ${folder}; one process at a time`,
    begin: async () => {
      if (space !== undefined) await database.exec(`create schema ${space}; set search_path to ${space}`)
      await store.migrate()
    },
    migrate: store.migrate,
    discard: async () => {
      if (space === undefined) return
      await database.exec(`drop schema ${space} cascade`)
      if (made === undefined) return
      await database.close()
      rmSync(made, { recursive: true, force: true })
    },
    close: async () => (database.closed ? undefined : database.close()),
  }
}
