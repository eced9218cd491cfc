import { requireMethods } from '../../../errors/options.ts'
import { sha256 } from '../../../keys/sha256.ts'
import { codeOf } from '../failures.ts'
import type { PostgresPort, Row } from './postgres-port.ts'

interface PgStatement {
  text: string
  values?: unknown[]
  name?: string
}

/** The part of a `pg` pool or client that the store uses. */
export interface PgLike {
  /** Options of a pool; `max` is the most connections. */
  readonly options?: { readonly max?: number | undefined }
  /** Takes a client out of a pool. A single client also has a method of this name, which opens its connection. */
  connect?(taken: (error: Error | undefined, client?: unknown) => void): void
  /** Sends one prepared statement. */
  query(statement: PgStatement): Promise<{ readonly rows: readonly Row[] }>
}

interface PooledClient extends Pick<PgLike, 'query'> {
  on(event: 'error', listener: () => void): unknown
  removeListener(event: 'error', listener: () => void): unknown
  release(destroy?: boolean): void
}

/** With these SQLSTATEs a statement fails behind a pooler that drops prepared statements, or gives those of one client to another. */
const NOT_PREPARED: ReadonlySet<string> = new Set(['26000', '42P05'])

/**
 * Adapts a `pg` Pool to the store's interface for clients. The caller owns the pool: the adapter neither configures nor closes it. Give the
 * pool `connectionTimeoutMillis` and a handler for `error`, so that a lost server causes an error and not a wait. Statements are prepared
 * once per connection, until a pooler refuses prepared statements.
 */
export function pg(pool: PgLike): PostgresPort {
  requireMethods('pg', 'a pool or client of pg', pool, ['query'])
  const isPool = pool.options?.max !== undefined && pool.connect !== undefined
  const send = async (statement: PgStatement): Promise<readonly Row[]> =>
    isPool ? sendOnce(pool as Required<PgLike>, statement) : (await pool.query(statement)).rows
  let prepare = true
  const names = new Map<string, string>()
  const nameOf = (text: string): string => {
    const name = names.get(text) ?? `sluice_${sha256(text).slice(0, 16)}`
    names.set(text, name)
    return name
  }
  return {
    connections: pool.options?.max,
    query: async (text, values) => {
      const unnamed = { text, values: [...values] }
      if (!prepare) return send(unnamed)
      try {
        return await send({ ...unnamed, name: nameOf(text) })
      } catch (error) {
        if (!NOT_PREPARED.has(codeOf(error))) throw error
        prepare = false
        return send(unnamed)
      }
    },
    run: async (text) => {
      await pool.query({ text })
    },
  }
}

/**
 * Sends a statement as `pool.query` does, but keeps the connection if only the statement failed, for example because a row is locked.
 * `pool.query` would close the connection.
 */
async function sendOnce(pool: Required<PgLike>, statement: PgStatement): Promise<readonly Row[]> {
  const client = await taken(pool)
  let destroy = false
  try {
    return (await client.query(statement)).rows
  } catch (error) {
    destroy = (error as { readonly severity?: unknown } | null)?.severity !== 'ERROR'
    throw error
  } finally {
    client.removeListener('error', ignore)
    client.release(destroy)
  }
}

/**
 * Takes a client out of the pool, and adds a listener for its errors at once. So it calls `connect` with a callback. A promise would settle
 * some time after the pool has removed its own listener. If the server ends the connection in that time, nobody would listen for the error,
 * and the process would end.
 */
function taken(pool: Required<PgLike>): Promise<PooledClient> {
  return new Promise((resolve, reject) => {
    pool.connect((error, client) => {
      if (error !== undefined && error !== null) return reject(error)
      const pooled = client as PooledClient
      pooled.on('error', ignore)
      resolve(pooled)
    })
  })
}

/**
 * A listener for `error` that does nothing. A lost connection rejects its statement and also emits this event. Without a listener the event
 * would end the process.
 */
function ignore(): void {}
