import pgDriver from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { tokenBucket } from '../../../src/algorithms/token-bucket.ts'
import { pg, postgresStore } from '../../../src/stores/postgres/index.ts'
import type { GroupVerdict } from '../../../src/stores/store.ts'
import { schema } from '../../conformance/postgres-rows.ts'

const { postgres: url } = inject('engines')

describe.skipIf(url === undefined)('law 6 on the clock of PostgreSQL', () => {
  const own = schema(url)
  const pool = new pgDriver.Pool({ connectionString: url, max: 1, options: `-c search_path=${own.name}` })
  const store = postgresStore({ client: pg(pool) })
  beforeAll(async () => {
    await own.create()
    await store.migrate()
  })
  afterAll(async () => {
    await pool.end()
    await own.drop()
  })

  it.each([
    ['10/s', 10],
    ['3/s', 1],
    ['1/day', 1],
    ['1000/s', 5],
  ])('a charge of %s, burst %d, is kept until at + resetAfter', async (rate, burst) => {
    const limit = tokenBucket({ rate, burst })
    const [verdict] = await store.consume([{ calls: [{ id: { scope: 'life:', key: rate }, limit, cost: 1 }] }])
    const { outcome, at, calls } = verdict as GroupVerdict
    expect(outcome).toBe('allowed')
    const { rows } = await pool.query('select until from sluice_tb where id = $1', [`life:${rate}`])
    expect(rows).toEqual([{ until: String(at + (calls[0]?.resetAfter as number)) }])
  })
})
