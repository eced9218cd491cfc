import pgDriver from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { slidingWindowLog, tokenBucket } from '../../../src/index.ts'
import { digestOf } from '../../../src/stores/postgres/encode.ts'
import { migrations } from '../../../src/stores/postgres/programs.gen.ts'
import { pg, barePostgresStore } from '../../../src/stores/postgres/index.ts'
import type { RegionPort } from '../../../src/stores/region-port.ts'
import { schema } from '../../conformance/postgres-rows.ts'
import * as verbs from '../../../src/testing/store-verbs.ts'

const { postgres: url } = inject('engines')
const limit = tokenBucket({ rate: '1/day', burst: 7 })

describe.skipIf(url === undefined)('migrate', () => {
  const own = schema(url)
  const pools = Array.from(
    { length: 10 },
    () => new pgDriver.Pool({ connectionString: url, max: 1, options: `-c search_path=${own.name}` }),
  )
  const [first] = pools as [pgDriver.Pool]
  beforeAll(() => own.create())
  afterAll(async () => {
    await Promise.all(pools.map((pool) => pool.end()))
    await own.drop()
  })
  const ledger = async (): Promise<unknown[]> => (await first.query('select name, sha256, applied_at from sluice_migrations')).rows

  it('by ten clients at once happens once', async () => {
    const stores = pools.map((pool) => barePostgresStore({ client: pg(pool) }))
    await Promise.all(stores.map((store) => store.migrate()))
    expect(await ledger()).toEqual(migrations.map(({ name, sha256 }) => ({ name, sha256, applied_at: expect.any(Date) })))
    const pending = stores.map((store) =>
      verbs.decide(store, [{ calls: [{ id: { scope: { text: 'm:' }, key: 'k' }, limit, cost: 1_000_000, phase: 0 }] }]),
    )
    const outcomes = (await Promise.all(pending)).map(([verdict]) => verdict?.outcome)
    expect(outcomes.filter((outcome) => outcome === 'allowed')).toHaveLength(7)
  })

  it('again changes nothing', async () => {
    const before = await ledger()
    await Promise.all(pools.map((pool) => barePostgresStore({ client: pg(pool) }).migrate()))
    expect(await ledger()).toEqual(before)
    const { rows } = await first.query('select count(*)::int as rows from sluice_state')
    expect(rows).toEqual([{ rows: 1 }])
  })

  it('leaves functions that bear a column which a later version adds', async () => {
    const later = new pgDriver.Pool({ connectionString: url, max: 1, options: `-c search_path=${own.name}` })
    try {
      await first.query('alter table sluice_state add column made_at timestamptz default now()')
      const store = barePostgresStore({ client: pg(later) })
      const decide = async (key: string): Promise<unknown> =>
        (await verbs.decide(store, [{ calls: [{ id: { scope: { text: 'm:' }, key }, limit, cost: 7_000_000, phase: 0 }] }]))[0]?.outcome
      expect([await decide('new'), await decide('new'), await decide('k')]).toEqual(['allowed', 'denied', 'denied'])
      const { rows } = await later.query('select zero > 0 as charged from sluice_state where id = $1', [
        digestOf({ scope: { text: 'm:' }, key: 'new' }),
      ])
      expect(rows).toEqual([{ charged: true }])
    } finally {
      await later.end()
    }
  })

  it('refuses a database that has a migration with another text, and touches nothing', async () => {
    const [{ sha256 }] = migrations as [(typeof migrations)[number]]
    await first.query(`update sluice_migrations set sha256 = 'other' where name = '0001-tables'`)
    await expect(barePostgresStore({ client: pg(first) }).migrate()).rejects.toMatchObject({
      name: 'StoreFailure',
      kind: 'setup',
      executed: 'no',
      message: expect.stringContaining('migration 0001-tables was applied with another text'),
    })
    await first.query(`update sluice_migrations set sha256 = $1 where name = '0001-tables'`, [sha256])
    await barePostgresStore({ client: pg(first) }).migrate()
  })

  it('fails with a StoreFailure that says why where it may not write', async () => {
    const pool = new pgDriver.Pool({
      connectionString: url,
      max: 1,
      options: `-c search_path=${own.name}_none -c default_transaction_read_only=on`,
    })
    await expect(barePostgresStore({ client: pg(pool) }).migrate()).rejects.toMatchObject({ name: 'StoreFailure', kind: 'readonly' })
    await pool.end()
  })

  it('leaves an account that serves with four rights on its tables, and no more', async () => {
    const role = `${own.name}_serves`
    await first.query(`create role ${role} login; grant usage on schema ${own.name} to ${role};
grant select, insert, update, delete on all tables in schema ${own.name} to ${role}`)
    const pool = new pgDriver.Pool({ connectionString: url, max: 1, options: `-c search_path=${own.name} -c role=${role}` })
    try {
      const store = barePostgresStore({ client: pg(pool), sweepEveryMs: 0 })
      const log = slidingWindowLog({ limit: 5, window: '1m' })
      const calls = [limit, log].map((of) => ({
        id: { scope: { text: `r:${of.algorithm.tag}:` }, key: 'k' },
        limit: of,
        cost: 1_000_000,
        phase: 0,
      }))
      await store.migrate()
      await store.ready()
      for (let turn = 0; turn < 2; turn += 1) expect((await verbs.decide(store, [{ calls }]))[0]?.outcome).toBe('allowed')
      expect((await verbs.decide(store, [{ calls: calls.slice(0, 1) }]))[0]?.outcome).toBe('allowed')
      await verbs.adjust(store, calls, [1_000_000, -1_000_000])
      const ids = calls.map(({ id }) => id)
      await verbs.block(store, ids, 60_000_000)
      expect((await verbs.peek(store, [{ calls }]))[0]?.outcome).toBe('denied')
      await verbs.reset(store, ids)
      await store.sweep()
      const regions = store.capabilities.regions as RegionPort
      const found = await regions.read(undefined, 0)
      expect(await regions.write(undefined, found, { record: {} }, 0)).toBe(1)
      expect(await regions.changedSince(0, 10, 0)).toMatchObject({ run: found.run, record: {}, cursor: 1, all: true, rows: [] })
    } finally {
      await pool.end()
      await first.query(`drop owned by ${role}; drop role ${role}`)
    }
  })
})
