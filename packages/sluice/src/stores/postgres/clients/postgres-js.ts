import { type PostgresPort, validClient } from './postgres-port.ts'

/** The part of a `postgres` (postgres.js) client that the store uses. */
export interface PostgresJsLike {
  readonly options: { readonly max: number; readonly prepare?: boolean | undefined }
  unsafe(
    statement: string,
    values?: string[],
    options?: { prepare?: boolean },
  ): PromiseLike<readonly unknown[]> & { simple(): PromiseLike<unknown> }
}

/**
 * Adapts a `postgres` client (postgres.js) to the store's port. The caller owns the client: this neither configures nor closes it. Give
 * it `connect_timeout` and a short `backoff`: by default its pauses before it tries a lost server again grow up to twenty seconds.
 * Statements are prepared unless the client's `prepare` is false (for poolers without prepared statements).
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
