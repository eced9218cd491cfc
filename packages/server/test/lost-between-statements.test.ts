import { setTimeout as later } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, expect, inject, it, vi } from 'vitest'
import type { Database } from '../src/stores/audit/postgres.ts'

const { postgres } = inject('engines')

/** Whoever audits loses the connection between two statements. */
vi.mock('../src/stores/audit/postgres.ts', () => ({
  auditPostgres: async ({ query, url }: Database) => {
    const [row] = await query('select pg_backend_pid() as pid')
    const other = new pg.Client({ connectionString: url })
    await other.connect()
    await other.query('select pg_terminate_backend($1)', [row?.pid])
    await other.end()
    await later(100)
    return query('select 1')
  },
}))

// Test files in one worker share their modules. So the modules are loaded anew here, and again after this file.
vi.resetModules()
afterAll(() => vi.resetModules())
const { openStore } = await import('../src/stores/open-store.ts')

it.skipIf(postgres === undefined)(
  'a connection that the server ends between two statements is an error, and not the end of the process',
  async () => {
    const opening = await openStore(postgres as string)
    try {
      // An error that nobody listens to fails the run.
      await expect(opening.audit?.({} as never)).rejects.toThrow(/terminat|connection/i)
    } finally {
      await opening.close()
    }
  },
)
