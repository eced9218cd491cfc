import { sha256 } from '../../keys/sha256.ts'
import { codeOf } from './failures.ts'
import { type PostgresPort, validClient } from './postgres-port.ts'

/** The part of a `pg` pool or client that the store uses. */
export interface PgLike {
  /** Present in a pool: `max` is its number of connections. */
  readonly options?: { readonly max?: number | undefined }
  query(statement: { text: string; values?: unknown[]; name?: string }): Promise<{
    readonly rows: readonly Readonly<Record<string, unknown>>[]
  }>
}

/** SQLSTATEs from a pooler that keeps no prepared statements, or mixes those of several clients. */
const NOT_PREPARED: ReadonlySet<string> = new Set(['26000', '42P05'])

/**
 * Adapts a `pg` Pool to the store's port. The caller owns the pool: this neither configures nor closes it. Give it
 * `connectionTimeoutMillis` and a handler for `error`, so that a lost server causes an error and not a wait. Statements are prepared once
 * per connection, until a pooler refuses that.
 */
export function pg(pool: PgLike): PostgresPort {
  validClient('pg', 'a pool or client of pg', pool, ['query'])
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
      if (!prepare) return (await pool.query(unnamed)).rows
      try {
        return (await pool.query({ ...unnamed, name: nameOf(text) })).rows
      } catch (error) {
        if (!NOT_PREPARED.has(codeOf(error))) throw error
        prepare = false
        return (await pool.query(unnamed)).rows
      }
    },
    run: async (text) => {
      await pool.query({ text })
    },
  }
}
