import pg from 'pg'

/** A pool whose connections stand in a schema that is made for it anew. */
export async function poolIn(url: string, schema: string, max: number, options = ''): Promise<pg.Pool> {
  const maker = new pg.Client({ connectionString: url })
  await maker.connect()
  await maker.query(`drop schema if exists ${schema} cascade; create schema ${schema}`)
  await maker.end()
  return poolAt(url, schema, max, options)
}

/** A pool whose connections stand in a schema that is there. */
export function poolAt(url: string, schema: string, max: number, options = ''): pg.Pool {
  const pool = new pg.Pool({ connectionString: url, max, options: `-c search_path=${schema} ${options}` })
  pool.on('error', () => {})
  return pool
}
