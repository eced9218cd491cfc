/** What the store needs of a client library. Errors pass through unchanged, with the SQLSTATE as `code`. */
export interface PostgresPort {
  /** Statements the client runs at once. Further calls wait in the store, which never sends those that were given up. */
  readonly connections?: number | undefined
  /** One statement with parameters $1, $2, ... of type text; rows as objects. */
  query(statement: string, values: readonly string[]): Promise<readonly Readonly<Record<string, unknown>>[]>
  /** Several statements in one message, decided as one transaction. */
  run(statements: string): Promise<void>
}
