import type { PostgresPort } from './postgres-port.ts'

/** The part of a `pg` pool or client that is used. */
export interface PgLike {
  /** A pool has them: `max`, its number of connections. */
  readonly options?: { readonly max?: number | undefined }
  query(statement: string, values?: unknown[]): Promise<{ readonly rows: readonly Readonly<Record<string, unknown>>[] }>
}

/**
 * A `pg` Pool as the store's port. It stays the caller's: it is neither configured nor closed. Give it `connectionTimeoutMillis`
 * and a handler for `error`, so that a lost server is an answer and not a wait.
 */
export function pg(pool: PgLike): PostgresPort {
  return {
    connections: pool.options?.max,
    query: async (statement, values) => (await pool.query(statement, [...values])).rows,
    run: async (statements) => {
      await pool.query(statements)
    },
  }
}

/** The part of a PGlite database that is used. */
export interface PgliteLike {
  query(statement: string, values?: unknown[]): Promise<{ readonly rows: readonly unknown[] }>
  exec(statements: string): Promise<unknown>
}

/** A PGlite database (PostgreSQL in this process, in memory or in a folder) as the store's port. */
export function pglite(database: PgliteLike): PostgresPort {
  return {
    connections: 1,
    query: async (statement, values) => (await database.query(statement, [...values])).rows as Record<string, unknown>[],
    run: async (statements) => {
      await database.exec(statements)
    },
  }
}
