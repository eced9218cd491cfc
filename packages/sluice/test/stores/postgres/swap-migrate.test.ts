import pgDriver from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { tokenBucket } from '../../../src/index.ts'
import { pg, barePostgresStore } from '../../../src/stores/postgres/index.ts'
import { schema } from '../../conformance/postgres-rows.ts'
import * as verbs from '../../../src/testing/store-verbs.ts'

const { postgres: url } = inject('engines')
const call = { id: { scope: { text: 'm:' }, key: 'k' }, limit: tokenBucket({ rate: '1/day', burst: 7 }), cost: 1_000_000, phase: 0 }

describe.skipIf(url === undefined)('migrate of compare-and-swap', () => {
  const own = schema(url)
  const connect = (more = '') => new pgDriver.Pool({ connectionString: url, max: 1, options: `-c search_path=${own.name}${more}` })
  const pools = Array.from({ length: 8 }, () => connect())
  const [first] = pools as [pgDriver.Pool]
  const open = (pool: pgDriver.Pool, table = 'sluice') =>
    barePostgresStore({ client: pg(pool), table, concurrency: 'compare-and-swap', sweepEveryMs: 0 })
  beforeAll(() => own.create())
  afterAll(async () => {
    await Promise.all(pools.map((pool) => pool.end()))
    await own.drop()
  })

  it('by many processes at once makes the table', async () => {
    await Promise.all(pools.map((pool) => pool.query('select 1')))
    for (let round = 0; round < 5; round += 1) await Promise.all(pools.map((pool) => open(pool, `at_once_${round}`).migrate()))
    expect(await verbs.decide(open(first, 'at_once_0'), [{ calls: [call] }])).toMatchObject([{ outcome: 'allowed' }])
  })

  it('needs no right to create where nothing is missing, and says that right is missing where the table is', async () => {
    await open(first).migrate()
    const role = `${own.name}_swaps`
    await first.query(`create role ${role} login; grant usage on schema ${own.name} to ${role};
grant select, insert, update, delete on sluice_swap to ${role}`)
    const pool = connect(` -c role=${role}`)
    try {
      const store = open(pool)
      await store.migrate()
      await store.ready()
      expect(await verbs.decide(store, [{ calls: [call] }])).toMatchObject([{ outcome: 'allowed' }])
      const message = expect.stringContaining('permission denied for schema') as string
      await expect(open(pool, 'other').migrate()).rejects.toMatchObject({ name: 'StoreFailure', kind: 'setup', executed: 'no', message })
    } finally {
      await pool.end()
      await first.query(`drop owned by ${role}; drop role ${role}`)
    }
  })

  it('needs no right to read', async () => {
    await open(first).migrate()
    const role = `${own.name}_creates`
    await first.query(`create role ${role} login; grant usage, create on schema ${own.name} to ${role}`)
    const pool = connect(` -c role=${role}`)
    try {
      await open(pool).migrate()
      await open(pool, 'created').migrate()
      await expect(open(pool).ready()).rejects.toMatchObject({ kind: 'setup', executed: 'no' })
    } finally {
      await pool.end()
      await first.query(`drop owned by ${role}; drop role ${role}`)
    }
  })

  it('fails as readonly where the server is, unless nothing is missing', async () => {
    await open(first).migrate()
    const pool = connect(' -c default_transaction_read_only=on')
    await open(pool).migrate()
    await expect(open(pool).ready()).rejects.toMatchObject({ kind: 'readonly' })
    await expect(open(pool, 'other').migrate()).rejects.toMatchObject({ name: 'StoreFailure', kind: 'readonly', executed: 'no' })
    await pool.end()
  })
})
