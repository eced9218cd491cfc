import pgDriver from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { createLimiter, tokenBucket } from '../../../src/index.ts'
import { pg, barePostgresStore, type BarePostgresOptions } from '../../../src/stores/postgres/index.ts'
import { schema } from '../../conformance/postgres-rows.ts'

const { postgres: url } = inject('engines')

describe('options of a PostgreSQL store', () => {
  const client = { query: async () => [], run: async () => {} }

  it.each<[Partial<Record<keyof BarePostgresOptions | 'tabel', unknown>>, string]>([
    [{ tabel: 'x' }, 'unknown option tabel'],
    [{ table: 'Limits; drop' }, 'table is "Limits; drop", expected at most 32 of a-z, 0-9 and _'],
    [{ table: '' }, 'table is ""'],
    [{ onContention: 'skip' }, 'onContention is "skip", expected wait or fail'],
    [{ sweepEveryMs: -1 }, 'sweepEveryMs is -1, expected 0 to 86400000'],
    [{ sweepEveryMs: Number.NaN }, 'sweepEveryMs is NaN'],
    [{ concurrency: 'mysql' }, 'concurrency is "mysql", expected lock or compare-and-swap'],
    [{ concurrency: 'compare-and-swap', unlogged: true }, "unlogged is true, which concurrency 'compare-and-swap' does not support"],
  ])('refuses %j', (options, why) => {
    expect(() => barePostgresStore({ client, ...options } as BarePostgresOptions)).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTIONS', message: expect.stringContaining(`postgresStore: ${why}`) }),
    )
  })
})

describe.skipIf(url === undefined)('tables of a name of their own', () => {
  const own = schema(url)
  const pool = new pgDriver.Pool({ connectionString: url, max: 2, options: `-c search_path=${own.name}` })
  const open = (options: Partial<BarePostgresOptions>) => barePostgresStore({ client: pg(pool), ...options })
  beforeAll(() => own.create())
  afterAll(async () => {
    await pool.end()
    await own.drop()
  })
  const persistence = async (): Promise<unknown> =>
    (await pool.query(`select relname, relpersistence as kept from pg_class where relname in ('limits_state', 'limits_log') order by 1`))
      .rows

  it('share nothing with others in the same schema', async () => {
    const left = async (options: Partial<BarePostgresOptions>): Promise<unknown> => {
      const store = open(options)
      await store.migrate()
      const limiter = createLimiter({ limit: tokenBucket({ rate: '1/day', burst: 10 }), store, deadlineMs: 10_000 })
      return (await limiter.check('k')).limits[0]?.remaining
    }
    expect([await left({}), await left({ table: 'limits' }), await left({ table: 'limits' }), await left({})]).toEqual([9, 9, 8, 8])
  })

  it('are kept out of the log on request, and brought back', async () => {
    await open({ table: 'limits', unlogged: true }).migrate()
    expect(await persistence()).toEqual([
      { relname: 'limits_log', kept: 'u' },
      { relname: 'limits_state', kept: 'u' },
    ])
    await open({ table: 'limits' }).migrate()
    expect(await persistence()).toMatchObject([{ kept: 'u' }, { kept: 'u' }])
    await open({ table: 'limits', unlogged: false }).migrate()
    expect(await persistence()).toMatchObject([{ kept: 'p' }, { kept: 'p' }])
  })
})
