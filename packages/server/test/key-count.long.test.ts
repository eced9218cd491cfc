import { findRedis, startRedis } from '@sluice/scripts/engines'
import { Redis } from 'ioredis'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { type CountKeys, countByScan, countByStatistics, createKeyCount } from '../src/stores/key-count.ts'
import { openStore } from '../src/stores/open-store.ts'

const engines = inject('engines')
/** The tests here need a Redis of their own, because other tests write keys into the shared one. */
const redis = engines.redis === undefined ? { missing: 'no engine' } : findRedis()

describe('O6: the number of keys at a scrape', () => {
  const counting = (...counts: readonly (number | undefined | Error)[]) => {
    const called: number[] = []
    const count: CountKeys = async (most) => {
      called.push(most)
      const next = counts[called.length - 1]
      if (next instanceof Error) throw next
      return next
    }
    let now = 0
    return { called, keys: createKeyCount(count, () => now), wait: (ms: number) => void (now += ms) }
  }

  it('is read once a minute, of at most 1,000 keys, however often is scraped', async () => {
    const { called, keys, wait } = counting(7, 8)
    await Promise.all([keys.refresh(true), keys.refresh(true)])
    wait(59_999)
    await keys.refresh(true)
    expect([called, keys.last]).toEqual([[1_000], 7])
    wait(1)
    await keys.refresh(true)
    expect([called, keys.last]).toEqual([[1_000, 1_000], 8])
  })

  it('is absent after the store did not say it, and where another process counts', async () => {
    const { called, keys, wait } = counting(7, new Error('away'), 9)
    await keys.refresh(true)
    wait(60_000)
    await keys.refresh(true)
    expect(keys.last).toBeUndefined()
    wait(60_000)
    await keys.refresh(true)
    expect(keys.last).toBe(9)
    await keys.refresh(false)
    expect([called.length, keys.last]).toEqual([3, undefined])
  })

  it('does not hold up a scrape while the store is silent', async () => {
    const keys = createKeyCount(() => new Promise(() => {}))
    await keys.refresh(true)
    expect(keys.last).toBeUndefined()
  })
})

describe.skipIf('missing' in redis)('O6: keys of a Redis', () => {
  let client: Redis
  let stop = async (): Promise<void> => {}
  beforeAll(async () => {
    const engine = await startRedis('path' in redis ? redis.path : '')
    client = new Redis(engine.url)
    stop = async () => {
      client.disconnect()
      await engine.stop()
    }
  })
  afterAll(() => stop())
  const fill = async (prefix: string, keys: number): Promise<void> => {
    const pipeline = client.pipeline()
    for (let index = 0; index < keys; index += 1) pipeline.set(`${prefix}${index}`, '')
    await pipeline.exec()
  }

  it('are counted if they are few, estimated from samples if they are many, and never written', async () => {
    const count = countByScan(client, 'sluice:')
    expect(await count(1_000)).toBe(0)
    await fill('sluice:', 100)
    await fill('other:', 50)
    expect(await count(1_000)).toBe(100)
    await fill('sluice:', 9_000)
    await fill('other:', 3_000)
    let estimate = 0
    for (let minute = 0; minute < 15; minute += 1) estimate = (await count(1_000)) ?? 0
    expect(estimate).toBeGreaterThan(9_000 * 0.9)
    expect(estimate).toBeLessThan(9_000 * 1.1)
    expect(await client.dbsize()).toBe(12_000)
  })

  it('are not counted again where the account may not', async () => {
    await client.call('acl', 'setuser', 'plain', 'on', 'nopass', '~*', '-@all', '+ping', '+info', '+client')
    const { host = '127.0.0.1', port = 6379 } = client.options
    const plain = new Redis({ host, port, username: 'plain', password: 'x' })
    const count = countByScan(plain, 'sluice:')
    expect([await count(1_000), await count(1_000)]).toEqual([undefined, undefined])
    const refused = (await client.call('acl', 'log')) as readonly (readonly unknown[])[]
    // The server joins equal entries, and counts them.
    expect(refused.map((entry) => `${String(entry[7])} ${String(entry[1])}`).toSorted()).toEqual(['dbsize 1', 'scan 1'])
    plain.disconnect()
  })
})

describe.skipIf(engines.postgres === undefined)('O6: keys of a PostgreSQL', () => {
  it('are counted if they are few, and taken from its statistics if they are many', async () => {
    const space = `key_count_${process.pid}`
    const opened = await openStore(engines.postgres as string, { space })
    const pool = new pg.Pool({ connectionString: engines.postgres, max: 1 })
    await pool.query(`set search_path to ${space}`)
    const add = async (rows: number): Promise<void> => {
      await pool.query('insert into sluice_state (id, kind) select gen_random_uuid(), 0 from generate_series(1, $1)', [rows])
    }
    try {
      expect(await opened.countKeys?.(1_000)).toBe(0)
      await add(200)
      expect(await opened.countKeys?.(1_000)).toBe(200)
      await add(4_800)
      // A server process reports inserted rows up to a second late. If ANALYZE came first, it would count them, and they would be added again.
      const reported = `select pg_stat_get_live_tuples('sluice_state'::regclass)::int4 as rows`
      await expect.poll(async () => (await pool.query<{ rows: number }>(reported)).rows[0]?.rows).toBe(5_000)
      await pool.query('analyze sluice_state')
      const count = countByStatistics(async (statement, most) => (await pool.query(statement, [most])).rows[0])
      expect(await count(1_000)).toBe(5_000)
    } finally {
      await opened.discard?.()
      await Promise.all([pool.end(), opened.close()])
    }
  })
})

describe('O6: keys of a PGlite', () => {
  it('are counted like those of a PostgreSQL', async () => {
    const opened = await openStore('pglite:')
    expect(await opened.countKeys?.(1_000)).toBe(0)
    await opened.close()
  })
})
