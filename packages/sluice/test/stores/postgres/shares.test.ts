import pgDriver from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest'
import { createLimiter, fixedWindow, memoryStore, tokenBucket } from '../../../src/index.ts'
import { pg, postgresStore } from '../../../src/postgres.ts'
import { exchangeRemote, type RegionalKey, type RegionalStore, regionalStore } from '../../../src/regions.ts'
import { createRemoteEscrow } from '../../../src/regions/remote/escrow.ts'
import { endEraRemote } from '../../../src/regions/remote/pull.ts'
import { barePostgresStore } from '../../../src/stores/postgres/index.ts'
import type { StoreFailure } from '../../../src/stores/store.ts'
import type { RegionPort } from '../../../src/stores/region-port.ts'
import { schema } from '../../conformance/postgres-rows.ts'
import { until } from '../../faults/until.ts'

const { postgres: url } = inject('engines')
const WEIGHTS = { eu: 500, us: 500 }
const limit = tokenBucket({ rate: '1000/s', burst: 20 })
const keyOf = (key: string): RegionalKey => ({ id: { scope: { text: 'default:default:tb:' }, key }, limit })

describe.skipIf(url === undefined)('shares of regions in PostgreSQL', () => {
  const own = schema(url)
  const poolOf = (more = '', max = 4): pgDriver.Pool =>
    new pgDriver.Pool({ connectionString: url, max, options: `-c search_path=${own.name} ${more}` })
  const [one, two] = [poolOf(), poolOf()]
  const us = regionalStore({ store: memoryStore(), self: 'us', weights: WEIGHTS, mode: 'escrow' })
  const regionOn = (pool: pgDriver.Pool, options: object = {}): RegionalStore =>
    regionalStore({
      store: postgresStore({
        client: pg(pool),
        sweepEveryMs: 0,
        onWarning: () => {},
        ring: { deadline: '20s', breaker: false },
        ...options,
      }),
      self: 'eu',
      weights: WEIGHTS,
      mode: 'escrow',
    })
  const [eu, other] = [regionOn(one), regionOn(two)]
  const limiterOn = (store: RegionalStore) => createLimiter({ limit, store, onStoreFailure: 'deny', deadlineMs: 20_000 })
  const [limiter, second] = [limiterOn(eu), limiterOn(other)]
  /** Until both regions hold their weight, and buckets are full. */
  const open = async (): Promise<void> => {
    for (let round = 0; round < 6 && ((await eu.remote?.status())?.phase !== 'open' || us.phase !== 'open'); round += 1)
      await exchangeRemote(eu, us)
    await until('buckets are full', async () => (await limiter.peek(`full ${Math.random()}`)).allowed)
  }
  const waits = async (): Promise<number> => {
    const { rows } = await two.query(`select count(*)::int as many from pg_locks l join pg_stat_activity a using (pid)
      where not l.granted and a.datname = current_database() and (a.query like '%guard%' or a.query like '%bucket%')`)
    return rows[0].many
  }
  beforeAll(async () => {
    await own.create()
    await barePostgresStore({ client: pg(one) }).migrate()
    await open()
  })
  afterAll(async () => {
    await Promise.all([one.end(), two.end()])
    await own.drop()
  })

  it('are decided by one call that waits for a record which is being written, and knows it then', async () => {
    const client = await one.connect()
    onTestFinished(() => client.release())
    await limiter.check('a')
    // The region closes, and will hold nothing: not yet committed.
    await client.query('begin')
    const port = barePostgresStore({ client: pg(client) }).capabilities.regions as RegionPort
    const escrow = createRemoteEscrow(port, 'eu', { version: 1, weights: new Map(Object.entries(WEIGHTS)) }, 100)
    await endEraRemote(escrow, {
      version: 2,
      weights: new Map([
        ['eu', 0],
        ['us', 1_000],
      ]),
    })
    const [first, again, fresh] = [second.check('a'), second.check('a'), second.check('never seen')]
    await expect.poll(waits).toBeGreaterThan(0)
    await client.query('commit')
    for (const decision of await Promise.all([first, again, fresh])) expect(decision).toMatchObject({ outcome: 'denied' })
    expect(await other.remote?.unitsOf(keyOf('a'))).toBe(0)
    await eu.remote?.status()
    await endEraRemote(escrow, { version: 3, weights: new Map(Object.entries(WEIGHTS)) })
    await open()
  })

  it('are decided by one call that waits for units which are being sent, and knows it then', async () => {
    await expect.poll(async () => (await second.check('b')).allowed).toBe(true)
    const client = await one.connect()
    onTestFinished(() => client.release())
    await client.query('begin')
    const sender = regionalStore({ store: barePostgresStore({ client: pg(client) }), self: 'eu', weights: WEIGHTS, mode: 'escrow' })
    expect(await sender.remote?.give(keyOf('b'), 'us', 500)).toBe(true)
    const pending = second.check('b')
    await expect.poll(waits).toBeGreaterThan(0)
    await client.query('commit')
    expect(await pending).toMatchObject({ outcome: 'denied' })
    expect([await eu.remote?.unitsOf(keyOf('b')), await other.remote?.unitsOf(keyOf('b'))]).toEqual([0, 0])
  })

  it('are given away by many at once, and decided meanwhile: no unit is there twice', async () => {
    const keys = Array.from({ length: 3 }, (_, index) => `race ${index}`)
    let sent = 0
    const giver = async (store: RegionalStore): Promise<void> => {
      for (let turn = 0; turn < 8; turn += 1) {
        for (const key of keys) {
          // A transfer that others keep from being made is not made.
          const gave = await store.remote?.give(keyOf(key), 'us', 7).catch((error: StoreFailure) => {
            if (error.kind !== 'contention' || error.executed !== 'no') throw error
          })
          if (gave === true) sent += 7
        }
      }
    }
    let over = 0
    const since = performance.now()
    const admitted = new Map<string, number>()
    const caller = async (calls: typeof limiter): Promise<void> => {
      for (let turn = 0; turn < 25; turn += 1) {
        await Promise.all(
          keys.map(async (key) => {
            if ((await calls.check(key)).allowed) admitted.set(key, (admitted.get(key) ?? 0) + 1)
          }),
        )
        const most = 10 + 0.5 * (performance.now() - since)
        for (const count of admitted.values()) over = Math.max(over, count - most)
      }
    }
    await Promise.all([giver(eu), giver(other), giver(eu), caller(limiter), caller(second), caller(limiter)])
    expect(over).toBe(0)
    const units = await Promise.all(keys.map(async (key) => (await other.remote?.unitsOf(keyOf(key))) ?? 0))
    expect(units.reduce((sum, count) => sum + count) + sent).toBe(500 * keys.length)
    await exchangeRemote(other, us)
    for (const [index, key] of keys.entries()) expect(us.unitsOf?.(keyOf(key))).toBe(1_000 - (units[index] as number))
  })

  it('stay with rows that a sweep leaves, and go with those of other keys', async () => {
    await limiter.check('c')
    await limiter.check('d')
    expect(await eu.remote?.give(keyOf('c'), 'us', 500)).toBe(true)
    const { rows } = await one.query(`select count(*)::int as many from sluice_state s join sluice_cell c using (id)`)
    const kept = rows[0].many as number
    const store = barePostgresStore({ client: pg(one) })
    await expect
      .poll(async () => (await store.sweep(), (await one.query('select count(*)::int as many from sluice_state')).rows[0].many))
      .toBe(kept)
    expect(await eu.remote?.unitsOf(keyOf('c'))).toBe(0)
  })

  it('are at most maxCells, over all processes', async () => {
    const { rows } = await one.query('select count(*)::int as many, (select cells::int from sluice_region) as counted from sluice_cell')
    expect(rows[0].counted).toBe(rows[0].many)
    const bounded = regionalStore({
      store: postgresStore({ client: pg(two), sweepEveryMs: 0, onWarning: () => {} }),
      self: 'eu',
      weights: WEIGHTS,
      mode: 'escrow',
      maxCells: rows[0].many,
    })
    expect(await bounded.remote?.give(keyOf('one too many'), 'us', 1)).toBe(false)
    expect(await bounded.remote?.unitsOf(keyOf('one too many'))).toBe(500)
    expect(await eu.remote?.give(keyOf('one too many'), 'us', 1)).toBe(true)
  })

  it('are in groups with other limits, and by calls of many keys', async () => {
    const group = createLimiter({
      limits: { bucket: limit, window: fixedWindow({ limit: 40, window: '300d' }) },
      store: eu,
      onStoreFailure: 'deny',
      deadlineMs: 20_000,
    })
    let allowed = 0
    await expect.poll(async () => (allowed += (await group.check('k')).allowed ? 1 : 0)).toBe(20)
    expect(await group.check('k')).toMatchObject({ outcome: 'denied' })
    const many = await limiter.checkMany(Array.from({ length: 40 }, (_, index) => ({ key: `many ${index}` })))
    expect(many.every(({ outcome }) => outcome === 'allowed')).toBe(true)
  })

  it('need transactions of READ COMMITTED', async () => {
    const strict = poolOf('-c default_transaction_isolation=repeatable\\ read')
    onTestFinished(() => strict.end())
    const store = regionOn(strict)
    const named = { kind: 'setup', executed: 'no', message: expect.stringMatching(/SL004 .*READ COMMITTED, not of REPEATABLE READ/) }
    await expect(store.remote?.status()).rejects.toMatchObject(named)
    expect(await limiterOn(store).check('a')).toMatchObject({ outcome: 'undecided', degraded: named })
  })

  it('are another run once the tables were made again, or restored from a dump', async () => {
    const runOf = async (): Promise<unknown> => (await one.query('select mark from sluice_region')).rows[0]?.mark
    await open()
    const before = await runOf()
    const { rows } = await one.query(
      'select json_agg(r)::text as region, (select json_agg(c)::text from sluice_cell c) as cells from sluice_region r',
    )
    await one.query('begin; delete from sluice_region; delete from sluice_cell; commit')
    await one.query('insert into sluice_region select * from json_populate_recordset(null::sluice_region, $1)', [rows[0].region])
    await one.query('insert into sluice_cell select * from json_populate_recordset(null::sluice_cell, $1)', [rows[0].cells])
    expect(await runOf()).toBe(before)
    expect(await limiter.check('e')).toMatchObject({ outcome: 'denied' })
    expect(await second.check('a')).toMatchObject({ outcome: 'denied' })
    expect(await runOf()).not.toBe(before)
    expect(await other.remote?.status()).toMatchObject({ phase: 'learning' })
    await open()
    const opened = await runOf()
    await one.query('drop table sluice_region, sluice_cell')
    expect(await limiter.check('e')).toMatchObject({ outcome: 'undecided', degraded: { kind: 'setup' } })
    await one.query(`delete from sluice_migrations where name = '0002-regions'`)
    await barePostgresStore({ client: pg(one) }).migrate()
    expect(await limiter.check('e')).toMatchObject({ outcome: 'denied' })
    expect(await runOf()).not.toBe(opened)
    await open()
    expect(await second.check('f')).toMatchObject({ outcome: 'allowed' })
  })
})
