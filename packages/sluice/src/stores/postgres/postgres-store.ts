import { type BarePostgresOptions, chosen, type PostgresStore } from './options.ts'
import { programStore } from './program-store.ts'
import { swapStore } from './swap-store.ts'

/**
 * States in PostgreSQL (13 or later) or PGlite. One statement locks the rows in a fixed order, reads the database's clock after the last
 * lock, decides all groups and writes. It is exact under READ COMMITTED and above, with any number of processes. For other databases with
 * its protocol see `concurrency`.
 * @throws LimiterError INVALID_OPTIONS
 */
export function barePostgresStore(options: BarePostgresOptions): PostgresStore {
  const all = chosen(options)
  return all.concurrency === 'lock' ? programStore(all) : swapStore(all)
}
