import { LimiterError } from '../../../errors/limiter-error.ts'
import { hasMethods, shown } from '../../../errors/options.ts'

export type Row = Readonly<Record<string, unknown>>

/** The operations that the store needs of a client library. Errors pass through unchanged, with the SQLSTATE as `code`. */
export interface PostgresPort {
  /** How many statements the client runs at once. Further statements wait in the store, which never sends those that were abandoned. */
  readonly connections?: number | undefined
  /** Set if the database belongs to this client alone, so that nobody else ever locks a row. */
  readonly embedded?: boolean | undefined
  /** Runs one statement with parameters $1, $2, ... of type text; returns rows as objects. */
  query(statement: string, values: readonly string[]): Promise<readonly Row[]>
  /** Runs several statements in one message and one transaction. */
  run(statements: string): Promise<void>
}

const EXPECTED = 'expected what pg(pool), postgresJs(sql) or pglite(database) returns'

/** Refuses a raw client: it may have a method of the same name with other parameters. @throws LimiterError INVALID_OPTIONS */
export function validPort(where: string, client: PostgresPort): PostgresPort {
  if (hasMethods(client, 'query', 'run')) return client
  const raw = ['connect', 'unsafe', 'exec'].some((method) => hasMethods(client, method))
  const what = raw ? 'a client as its library makes it' : shown(client)
  throw new LimiterError('INVALID_OPTIONS', `${where}: client is ${what}, ${EXPECTED}`)
}
