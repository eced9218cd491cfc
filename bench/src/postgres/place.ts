import pg from 'pg'
import type { WayName } from './ways.ts'
import { poolAt, poolIn } from './pool.ts'

export type Isolation = 'read committed' | 'serializable'

/** A limiter on a server, in a schema of its own and under an isolation level. */
export interface PlaceInput {
  readonly url: string
  readonly way: WayName
  readonly isolation: Isolation
}

/** Milliseconds for which the drop of a schema may wait for the locks of a session whose process was killed. */
const DROP_MS = 30_000

export interface Place {
  readonly schema: string
  /** A pool of connections that use the schema. The caller ends it. */
  pool(max: number): pg.Pool
  /** Drops the schema, because the server may be one that others use. */
  drop(): Promise<void>
}

/** Makes the schema. Its name is that of this run and process, so that no other schema is replaced. */
export async function placeOf({ url, way, isolation }: PlaceInput, purpose: string): Promise<Place> {
  const schema = `${prefixOfRun()}${purpose}_${way.toLowerCase()}_${process.pid}`
  const options = `-c default_transaction_isolation=${isolation.replace(' ', '\\ ')}`
  await (await poolIn(url, schema, 1)).end()
  return {
    schema,
    pool: (max) => poolAt(url, schema, max, options),
    drop: async () => {
      const client = new pg.Client({ connectionString: url })
      await client.connect()
      await client.query(`drop schema ${schema} cascade`)
      await client.end()
    },
  }
}

/** What the names of all schemas of this run begin with, in whichever of its processes. */
function prefixOfRun(): string {
  return `sluice_bench_${process.env['SLUICE_BENCH_PID'] ?? process.pid}_`
}

/** Drops the schemas of this run that ended processes have left. */
export async function dropPlaces(url: string): Promise<void> {
  const prefix = prefixOfRun()
  const client = new pg.Client({ connectionString: url, query_timeout: DROP_MS, connectionTimeoutMillis: DROP_MS })
  try {
    await client.connect()
    const { rows } = await client.query<{ name: string }>('select nspname as name from pg_namespace where starts_with(nspname, $1)', [
      prefix,
    ])
    for (const { name } of rows) await client.query(`drop schema ${name} cascade`)
  } catch (error) {
    // The message of a driver may contain the URL.
    console.error(`the schemas ${prefix}... could not be dropped (${(error as { code?: string }).code ?? 'no answer'})`)
  } finally {
    await client.end().catch(() => {})
  }
}
