import { PGlite } from '@electric-sql/pglite'
import pgDriver from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import { pg, pglite, postgresStore } from '../../../src/postgres.ts'
import { regionalStore } from '../../../src/regions.ts'

describe('regionalStore over PostgreSQL with escrow', () => {
  it('is refused by name where units cannot be sent', async () => {
    const database = new PGlite()
    onTestFinished(() => database.close())
    const make = (options: Parameters<typeof postgresStore>[0]) => () =>
      regionalStore({ store: postgresStore(options), self: 'eu', peers: ['us'], mode: 'escrow' })
    expect(make({ client: pglite(database) })).toThrow('does not run over postgres on PGlite in this version; use mode fixed')
    const pool = new pgDriver.Pool({ max: 1 })
    onTestFinished(() => pool.end())
    expect(make({ client: pg(pool), concurrency: 'compare-and-swap' })).toThrow(
      "does not run over postgres with concurrency 'compare-and-swap' in this version; use mode fixed",
    )
  })
})
