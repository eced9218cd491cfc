import { checkOptions, FLAG, type Form } from '../../errors/options.ts'
import { type BarePostgresOptions, chosen, type PostgresStore } from './options.ts'
import { programStore } from './program-store.ts'
import { swapStore } from './swap-store.ts'

const MIGRATE: Readonly<Record<string, Form>> = { compatFunction: FLAG, prune: FLAG, force: FLAG }

/**
 * States in PostgreSQL (13 or later) or PGlite. One statement locks the rows in a fixed order, reads the database's clock after the last
 * lock, decides all groups and writes. Decisions are exact under READ COMMITTED and stricter isolation levels, with any number of
 * processes. For other databases with PostgreSQL's protocol see the option `concurrency`.
 * @throws LimiterError INVALID_OPTIONS
 */
export function barePostgresStore(options: BarePostgresOptions): PostgresStore {
  const all = chosen(options)
  const store = all.concurrency === 'lock' ? programStore(all) : swapStore(all)
  return {
    ...store,
    async migrate(migrateOptions = {}) {
      checkOptions('migrate', migrateOptions, MIGRATE)
      await store.migrate(migrateOptions)
    },
  }
}
