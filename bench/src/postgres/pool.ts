import pg from 'pg'

/** A statement timeout, because without one the store warns on stderr. It is so long that it affects no measurement. */
const TIMEOUT = '-c statement_timeout=60s'

/** A pool whose connections use a schema that is created for it. */
export async function poolIn(url: string, schema: string, max: number, options = ''): Promise<pg.Pool> {
  const maker = new pg.Client({ connectionString: url })
  await maker.connect()
  await maker.query(`drop schema if exists ${schema} cascade; create schema ${schema}`)
  await maker.end()
  return poolAt(url, schema, max, options)
}

/** A pool whose connections use an existing schema. */
export function poolAt(url: string, schema: string, max: number, options = ''): pg.Pool {
  const pool = new pg.Pool({ connectionString: url, max, options: `-c search_path=${schema} ${TIMEOUT} ${options}` })
  pool.on('error', () => {})
  return pool
}
