import pgDriver from 'pg'
import type { PostgresPort } from '../../src/stores/postgres/index.ts'
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
export async function readRow(client: PostgresPort, { scope, key }: StateId): Promise<number[] | undefined> {
  const [row] = await client.query('select zero, rest, seen, hold, n, m, burst from sluice_tb where id = $1', [scope + key])
  return row === undefined ? undefined : Object.values(row).map(Number)
}
