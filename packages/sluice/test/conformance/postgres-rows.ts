import pgDriver from 'pg'
import { digestOf } from '../../src/stores/postgres/encode.ts'
import { functionNames } from '../../src/stores/postgres/functions.ts'
import { pg, type PostgresPort, type PostgresStore, barePostgresStore } from '../../src/stores/postgres/index.ts'
import type { StateId } from '../../src/stores/store.ts'

/** Makes and drops a schema that one test has for itself in a shared server. */
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
  const [row] = await client.query(
    `select s.kind, s.plan_id as len, coalesce(s.zero, s.ends, s.newest) as a, coalesce(s.rest, s.current, s.charged, 0) as b,
      coalesce(s.seen, s.previous, s.head, 0) as c, coalesce(s.keep_for, s.turn, s.absent, 0) as keep_for, p.n, p.m, p.burst,
      convert_from(s.state, 'UTF8') as other, (select string_agg(e.at || ' ' || e.cost, ' ' order by e.seq) from
        (select l.seq, l.at, lead(l.base, 1, s.charged) over (order by l.seq) - l.base as cost from sluice_log l where l.id = s.id) e) as entries
      from sluice_state s left join sluice_plan p on p.plan_id = s.plan_id and s.kind = 0 where s.id = $1::text::uuid and s.plan_id is not null`,
    [digestOf(id)],
  )
  if (row === undefined) return undefined
  if (typeof row['other'] === 'string') return row['other'].split(' ').map(Number)
  const columns = ROWS[Number(row['kind'])] as readonly string[]
  const entries = typeof row['entries'] === 'string' ? row['entries'].split(' ').map(Number) : []
  return [...columns.map((name) => Number(row[name])), ...entries]
}

/**
 * The columns of a state's numbers, by kind of algorithm and in the order of the codecs. An algorithm without SQL functions has its numbers
 * in `state`.
 */
const ROWS = [
  ['a', 'b', 'c', 'keep_for', 'n', 'm', 'burst'],
  ['a', 'b', 'len', 'keep_for'],
  ['a', 'b', 'c', 'len', 'keep_for'],
  ['len', 'keep_for'],
]

/** Opens a store over a schema of the test's own, and the connection pool that reaches this schema. */
export function ownStore(
  url: string | undefined,
  connections: number,
): { store: PostgresStore; pool: pgDriver.Pool; open(): Promise<void>; close(): Promise<void> } {
  const own = schema(url)
  const pool = new pgDriver.Pool({ connectionString: url, max: connections, options: `-c search_path=${own.name}` })
  const store = barePostgresStore({ client: pg(pool), sweepEveryMs: 0 })
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

/** What `fresh.sql` reads of a row `t` and its plan `p`. */
export const FRESH: string = `${functionNames('sluice').get('fresh')}(t, p.n, p.m, p.burst)`
