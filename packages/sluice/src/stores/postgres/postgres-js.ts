import { type PostgresPort, validClient } from './postgres-port.ts'

/** The part of a `postgres` (postgres.js) client that is used. */
export interface PostgresJsLike {
  readonly options: { readonly max: number; readonly prepare?: boolean | undefined }
  unsafe(
    statement: string,
    values?: string[],
    options?: { prepare?: boolean },
  ): PromiseLike<readonly unknown[]> & { simple(): PromiseLike<unknown> }
}

/**
 * A `postgres` client (postgres.js) as the store's port. It stays the caller's: it is neither configured nor closed. Give it
 * `connect_timeout` and a short `backoff`, since by default it waits longer and longer, up to twenty seconds, before it tries a lost
 * server again. Statements are prepared unless its own `prepare` is false (poolers that keep none).
 */
export function postgresJs(sql: PostgresJsLike): PostgresPort {
  validClient('postgresJs', 'a client of postgres (postgres.js)', sql, ['unsafe'])
  const { max, prepare = true } = sql.options
  return {
    connections: max,
    query: async (statement, values) => (await sql.unsafe(statement, [...values], { prepare })) as readonly Record<string, unknown>[],
    run: async (statements) => {
      await sql.unsafe(statements).simple()
    },
  }
}
