import { checkOptions, FLAG, type Form } from '../../errors/options.ts'
import { type BarePostgresOptions, chosen, type PostgresStore } from './options.ts'
import { programStore } from './program-store.ts'
import { swapStore } from './swap-store.ts'

const MIGRATE: Readonly<Record<string, Form>> = { compatFunction: FLAG, prune: FLAG, force: FLAG }

/** Decisions are exact under READ COMMITTED and stricter isolation levels. @throws LimiterError INVALID_OPTIONS */
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
