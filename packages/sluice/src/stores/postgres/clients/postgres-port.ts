import { LimiterError } from '../../../errors/limiter-error.ts'
import { hasMethods, shown } from '../../../errors/options.ts'

export type Row = Readonly<Record<string, unknown>>

/** The operations of a client library that the store needs. An adapter passes errors on unchanged; their `code` is the SQLSTATE. */
export interface PostgresPort {
  /**
   * How many statements the client can run at once; absent if unknown. Further ones wait in the store's queue, where they can still be
   * dropped.
   */
  readonly connections?: number | undefined
  /** Set if no other client can use the database, so that no other transaction ever locks a row. */
  readonly embedded?: boolean | undefined
  /** Runs one statement with parameters $1, $2, ... of type text; returns rows as objects. */
  query(statement: string, values: readonly string[]): Promise<readonly Row[]>
  /** Runs several statements in one message and one transaction. */
  run(statements: string): Promise<void>
}

const EXPECTED = 'expected what pg(pool), postgresJs(sql) or pglite(database) returns'

/** Checks that a client was wrapped by an adapter. @throws LimiterError INVALID_OPTIONS */
export function validPort(where: string, client: PostgresPort): PostgresPort {
  if (hasMethods(client, 'query', 'run')) return client
  const raw = ['connect', 'unsafe', 'exec'].some((method) => hasMethods(client, method))
  const what = raw ? 'a client as its library makes it' : shown(client)
  throw new LimiterError('INVALID_OPTIONS', `${where}: client is ${what}, ${EXPECTED}`)
}
