import { requireMethods } from '../../../errors/options.ts'
import type { PostgresPort, Row } from './postgres-port.ts'

/** The part of a PGlite database that the store uses. */
export interface PgliteLike {
  /** Runs one statement with values. */
  query(statement: string, values?: unknown[]): Promise<{ readonly rows: readonly unknown[] }>
  /** Runs several statements without values. */
  exec(statements: string): Promise<unknown>
}

/** Adapts a PGlite database: PostgreSQL in this process, in memory or in a folder. */
export function pglite(database: PgliteLike): PostgresPort {
  requireMethods('pglite', 'a database of PGlite', database, ['query', 'exec'])
  return {
    connections: 1,
    embedded: true,
    query: async (statement, values) => (await database.query(statement, [...values])).rows as readonly Row[],
    run: async (statements) => {
      await database.exec(statements)
    },
  }
}
