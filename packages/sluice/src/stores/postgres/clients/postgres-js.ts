import { requireMethods } from '../../../errors/options.ts'
import type { PostgresPort, Row } from './postgres-port.ts'

/** The part of a `postgres` (postgres.js) client that the store uses. */
export interface PostgresJsLike {
  /** The most connections (`max`), and whether statements are prepared. */
  readonly options: { readonly max: number; readonly prepare?: boolean | undefined }
  /** Sends a statement that is given as a text. */
  unsafe(
    statement: string,
    values?: string[],
    options?: { prepare?: boolean },
  ): PromiseLike<readonly unknown[]> & { simple(): PromiseLike<unknown> }
}

/**
 * Adapts a `postgres` (postgres.js) client, which the caller owns and closes. Give it `connect_timeout` and a short `backoff`: by default
 * its pauses between attempts to reach a lost server grow up to twenty seconds. Statements are prepared unless its `prepare` is false.
 */
export function postgresJs(sql: PostgresJsLike): PostgresPort {
  requireMethods('postgresJs', 'a client of postgres (postgres.js)', sql, ['unsafe'])
  const { max, prepare = true } = sql.options
  return {
    connections: max,
    query: async (statement, values) => (await sql.unsafe(statement, [...values], { prepare })) as readonly Row[],
    run: async (statements) => {
      await sql.unsafe(statements).simple()
    },
  }
}
