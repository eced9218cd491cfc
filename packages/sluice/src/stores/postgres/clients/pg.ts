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
  /** Takes a client out of a pool. Of a single client, it opens the connection. */
  connect?(taken: (error: Error | undefined, client?: unknown) => void): void
  /** Sends one prepared statement. */
  query(statement: PgStatement): Promise<{ readonly rows: readonly Row[] }>
}

interface PooledClient extends Pick<PgLike, 'query'> {
  on(event: 'error', listener: () => void): unknown
  removeListener(event: 'error', listener: () => void): unknown
  release(destroy?: boolean): void
}

/** SQLSTATEs that mean that a pooler drops prepared statements, or gives those of one client to another. */
const NOT_PREPARED: ReadonlySet<string> = new Set(['26000', '42P05'])

/**
 * Adapts a `pg` Pool, which the caller owns and closes. With `connectionTimeoutMillis`, a lost server causes an error and not a wait.
 * Without a handler for `error`, a lost idle connection ends the process. Statements are prepared, until a pooler refuses that.
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

/** Unlike `pool.query`, keeps the connection if only the statement failed, for example because a row is locked. */
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

/** `connect` gets a callback, because a promise would settle after the pool has removed its own listener for errors. */
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

/** A lost connection rejects its statement and also emits `error`, which would end the process without a listener. */
function ignore(): void {}
