import pgDriver from 'pg'
import { stateName } from '../../src/keys/encode.ts'
import { pg, type PostgresPort, type PostgresStore, postgresStore } from '../../src/stores/postgres/index.ts'
import type { StateId } from '../../src/stores/store.ts'

/** A schema of a test's own in a shared server, made and dropped by it. */
export function schema(url: string | undefined): { name: string; create(): Promise<void>; drop(): Promise<void> } {
  const name = `sluice_test_${process.pid}_${Math.floor(Math.random() * 1e9)}`
  const run = async (statement: string): Promise<void> => {
    const client = new pgDriver.Client({ connectionString: url })
    await client.connect()
    await client.query(statement)
    await client.end()
  }
  return { name, create: () => run(`create schema ${name}`), drop: () => run(`drop schema ${name} cascade`) }
}

/** The state's numbers in the codec's order. */
export async function readRow(client: PostgresPort, id: StateId): Promise<number[] | undefined> {
  const [row] = await client.query('select zero, rest, seen, hold, n, m, burst from sluice_tb where id = $1', [stateName(id)])
  return row === undefined ? undefined : Object.values(row).map(Number)
}

/** A store over a schema of the test's own, with the pool that reaches it. */
export function ownStore(
  url: string | undefined,
  connections: number,
): { store: PostgresStore; pool: pgDriver.Pool; open(): Promise<void>; close(): Promise<void> } {
  const own = schema(url)
  const pool = new pgDriver.Pool({ connectionString: url, max: connections, options: `-c search_path=${own.name}` })
  const store = postgresStore({ client: pg(pool) })
  return {
    store,
    pool,
    open: async () => {
      await own.create()
      await store.migrate()
    },
    close: async () => {
      await pool.end()
      await own.drop()
    },
  }
}
