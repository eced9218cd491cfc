import { type PostgresPort, validClient } from './postgres-port.ts'

/** The part of a PGlite database that the store uses. */
export interface PgliteLike {
  query(statement: string, values?: unknown[]): Promise<{ readonly rows: readonly unknown[] }>
  exec(statements: string): Promise<unknown>
}

/** Adapts a PGlite database (PostgreSQL in this process, in memory or in a folder) to the store's port. */
export function pglite(database: PgliteLike): PostgresPort {
  validClient('pglite', 'a database of PGlite', database, ['query', 'exec'])
  return {
    connections: 1,
    embedded: true,
    query: async (statement, values) => (await database.query(statement, [...values])).rows as Record<string, unknown>[],
    run: async (statements) => {
      await database.exec(statements)
    },
  }
}
