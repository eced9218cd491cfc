import pgDriver from 'pg'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { concurrency, createLimiter, slidingWindowLog } from '../../../src/index.ts'
import { pg, barePostgresStore } from '../../../src/stores/postgres/index.ts'
import { schema } from '../../conformance/postgres-rows.ts'

const { postgres: url } = inject('engines')
const SETTINGS = [
  'bytea_output=escape',
  'standard_conforming_strings=off',
  'plpgsql.variable_conflict=use_column',
  'plpgsql.extra_errors=all',
  'datestyle=German',
  'intervalstyle=sql_standard',
  'transform_null_equals=on',
]

describe.skipIf(url === undefined)('settings of the session change no answer', () => {
  it.each(SETTINGS)('%s', async (setting) => {
    const own = schema(url)
    await own.create()
    const pool = new pgDriver.Pool({ connectionString: url, max: 2, options: `-c search_path=${own.name} -c ${setting}` })
    onTestFinished(async () => {
      await pool.end()
      await own.drop()
    })
    const store = barePostgresStore({ client: pg(pool), sweepEveryMs: 0 })
    await store.migrate()
    const limits = { log: slidingWindowLog({ limit: 10, window: '1d' }), slots: concurrency({ limit: 9, holdMs: 60_000 }) }
    const limiter = createLimiter({ limits, store, deadlineMs: 20_000 })
    const reservation = await limiter.reserve('k', { cost: 5 })
    await reservation.settle(2)
    await limiter.penalize('k')
    expect((await limiter.peek('k')).limits.map(({ remaining }) => remaining)).toEqual([7, 9])
  })
})
