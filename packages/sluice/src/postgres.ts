import { checkOptions, type Form } from './errors/options.ts'
import { type BarePostgresOptions, POSTGRES_FORMS, type PostgresStore as BarePostgresStore } from './stores/postgres/options.ts'
import { barePostgresStore } from './stores/postgres/postgres-store.ts'
import type { RemoteStore, RemoteStoreOptions } from './stores/remote/remote-store.ts'
import { ringForm, withRing } from './with-ring.ts'

export type { OnWarning } from './errors/console-warning.ts'
export type { Concurrency } from './stores/postgres/options.ts'
export { pg, type PgLike } from './stores/postgres/clients/pg.ts'
export { pglite, type PgliteLike } from './stores/postgres/clients/pglite.ts'
export { postgresJs, type PostgresJsLike } from './stores/postgres/clients/postgres-js.ts'
export type { MigrateOptions } from './stores/postgres/migrate.ts'
export type { PostgresPort } from './stores/postgres/clients/postgres-port.ts'
export type { Random } from './time/time.ts'
export type { BarePostgresOptions, RemoteStore, RemoteStoreOptions }

/** Options of `postgresStore`. */
export interface PostgresStoreOptions extends BarePostgresOptions {
  /** Options of the `remoteStore` around this store: deadline, batching, breaker, cached denials and leases. `false`: none of these. */
  readonly ring?: Omit<RemoteStoreOptions, 'clock' | 'random'> | false | undefined
}

/** `migrate` creates or updates the tables, and `sweep` deletes expired rows. */
export interface PostgresStore extends BarePostgresStore, RemoteStore {}

const FORMS: Readonly<Record<string, Form>> = { ...POSTGRES_FORMS, ring: ringForm('clock', 'random') }

/**
 * A store in PostgreSQL (13 or later) or PGlite. For other databases with PostgreSQL's protocol set the option `concurrency`. Decisions use
 * the database's clock, and are exact with any number of processes.
 * @throws LimiterError INVALID_OPTIONS
 */
export function postgresStore(options: PostgresStoreOptions): PostgresStore {
  checkOptions('postgresStore', options, FORMS)
  const { ring, ...bare } = options
  const store = barePostgresStore(bare)
  return withRing(store, ring, bare, { migrate: store.migrate, sweep: store.sweep })
}
