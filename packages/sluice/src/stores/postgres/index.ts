export { pg, type PgLike, pglite, type PgliteLike } from './clients.ts'
export type { PostgresPort } from './postgres-port.ts'
export { type PostgresStore, postgresStore, type PostgresStoreOptions } from './postgres-store.ts'
