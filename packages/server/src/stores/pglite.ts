import { mkdirSync, rmSync } from 'node:fs'
import { countByStatistics } from './key-count.ts'
import type { Opener } from './opening.ts'

/** Opening has no deadline: its time depends on this machine alone. */
export const pglite: Opener = async ({ url, space }) => {
  const folder = url.slice('pglite:'.length)
  const [{ PGlite }, driver] = await Promise.all([import('@electric-sql/pglite'), import('sluice/postgres')])
  const made = folder === '' ? undefined : mkdirSync(folder, { recursive: true })
  const database = folder === '' ? await PGlite.create() : await PGlite.create(folder)
  const store = driver.postgresStore({ client: driver.pglite(database), ring: false, onWarning: () => {} })
  let making: Promise<void> | undefined
  const make = async (): Promise<void> => {
    if (space !== undefined) await database.exec(`create schema ${space}; set search_path to ${space}`)
    await store.migrate()
  }
  return {
    store,
    keeps: folder === '' ? 'limits are gone on restart' : `limits are kept in ${folder}; one process at a time`,
    begin: () => (making = make()),
    migrate: store.migrate,
    countKeys: countByStatistics(async (statement, most) => (await database.query(statement, [most])).rows[0]),
    discard: async () => {
      if (space === undefined) return
      await making?.catch(() => {})
      await database.exec(`drop schema if exists ${space} cascade`)
      if (made === undefined) return
      await database.close()
      rmSync(made, { recursive: true, force: true })
    },
    close: async () => (database.closed ? undefined : database.close()),
  }
}
