import pgDriver from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { createLimiter, tokenBucket } from '../../../src/index.ts'
import { pg, barePostgresStore } from '../../../src/stores/postgres/index.ts'
import { schema } from '../../conformance/postgres-rows.ts'

const { postgres: url } = inject('engines')

describe.skipIf(url === undefined)('prepared statements of pg', () => {
  const own = schema(url)
  const pool = new pgDriver.Pool({ connectionString: url, max: 1, options: `-c search_path=${own.name}` })
  const store = barePostgresStore({ client: pg(pool), sweepEveryMs: 0 })
  const limiter = createLimiter({ limit: tokenBucket({ rate: '1/day', burst: 10 }), store, deadlineMs: 10_000 })
  const left = async (): Promise<unknown> => (await limiter.check('k')).limits[0]?.remaining
  const prepared = async (): Promise<number> =>
    (await pool.query<{ many: number }>('select count(*)::int as many from pg_prepared_statements')).rows[0]?.many ?? -1
  beforeAll(async () => {
    await own.create()
    await store.migrate()
  })
  afterAll(async () => {
    await pool.end()
    await own.drop()
  })

  it('are made once per connection', async () => {
    expect([await left(), await left()]).toEqual([9, 8])
    expect(await prepared()).toBe(1)
  })

  it('are done without once a pooler has lost one: the call is decided all the same, and charged once', async () => {
    await pool.query('deallocate all')
    expect([await left(), await left()]).toEqual([7, 6])
    expect(await prepared()).toBe(0)
  })
})
