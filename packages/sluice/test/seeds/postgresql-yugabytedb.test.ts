import pgDriver from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest'
import { tokenBucketKernel } from '../../src/algorithms/token-bucket.ts'
import { tokenBucket } from '../../src/index.ts'
import { pg, barePostgresStore } from '../../src/stores/postgres/index.ts'
import { schema } from '../conformance/postgres-rows.ts'
import { draws } from '../draws.ts'

const { postgres: url } = inject('engines')

describe.skipIf(url === undefined)('Rate limiting with PostgreSQL / YugabyteDB', () => {
  const own = schema(url)
  const pool = new pgDriver.Pool({ connectionString: url, max: 8, options: `-c search_path=${own.name}` })
  const store = barePostgresStore({ client: pg(pool) })
  beforeAll(async () => {
    await own.create()
    await store.migrate({ compatFunction: true })
  })
  beforeEach(() => pool.query('truncate table rate_limiting_token_bucket'))
  afterAll(async () => {
    await pool.end()
    await own.drop()
  })

  const request = async (id: string, rate: number, window: number): Promise<number> => {
    const { rows } = await pool.query<{ left: number }>('select rate_limiting_token_bucket_request($1, $2, $3) as left', [id, rate, window])
    return rows[0]?.left ?? Number.NaN
  }
  /** Moves the last use of a bucket back, as if that much time had passed. */
  const pass = (id: string, micros: number) =>
    pool.query(`update rate_limiting_token_bucket set ts = ts - $2 * interval '1 microsecond' where id = $1`, [id, micros])
  const takenAt = async (id: string): Promise<number> => {
    const { rows } = await pool.query<{ at: string }>(
      'select (extract(epoch from ts) * 1000000)::bigint as at from rate_limiting_token_bucket where id = $1',
      [id],
    )
    return Number(rows[0]?.at)
  }
  /** Runs a function, and returns how many seconds of the database's clock passed. On a busy machine more tokens are refilled meanwhile. */
  const timed = async (work: () => Promise<void>): Promise<number> => {
    const before = await databaseTime()
    await work()
    return ((await databaseTime()) - before) / 1_000_000
  }
  const databaseTime = async (): Promise<number> => {
    const { rows } = await pool.query<{ now: string }>('select (extract(epoch from clock_timestamp()) * 1000000)::bigint as now')
    return Number(rows[0]?.now)
  }
  /** Runs a function on an empty table, again until it took less than a second. In a second a token is refilled. */
  const withinASecond = async <T>(work: () => Promise<T>): Promise<T> => {
    for (;;) {
      await pool.query('truncate table rate_limiting_token_bucket')
      let result: T | undefined
      const seconds = await timed(async () => void (result = await work()))
      if (seconds < 1) return result as T
    }
  }

  it('takes its defaults: two tokens a second for a minute', async () => {
    const { rows } = await pool.query(`select rate_limiting_token_bucket_request('user1') as left`)
    expect(rows).toEqual([{ left: 119 }])
  })

  it('the session, in real time: 9 to 0, then -1 and what has refilled, as exact arithmetic at the recorded instants says', async () => {
    const sessions = [
      { rate: 1, window: 10, pauseMs: 100 },
      // Slower than any machine calls: it would never be refused.
      { rate: 3, window: 5, pauseMs: 40 },
    ]
    for (const { rate, window, pauseMs } of sessions.slice(0, draws(2, 1))) {
      await pool.query('truncate table rate_limiting_token_bucket')
      const limit = tokenBucket({ rate: `${rate}/s`, burst: rate * window })
      let state: ReturnType<typeof tokenBucketKernel.decide>['state']
      const said: number[] = []
      const poll = async (): Promise<void> => {
        for (let refused = 0; refused < 3;) {
          const before = await databaseTime()
          const left = await request('user1', rate, window)
          said.push(left)
          if (left === -1) refused += 1
          const at = left === -1 ? before : await takenAt('user1')
          const step = tokenBucketKernel.decide(limit.plan, state, at, 1_000_000, 0)
          expect(left).toBe(step.outcome === 'allowed' ? step.remaining : -1)
          if (step.outcome === 'allowed') state = structuredClone(step.state)
          await pool.query('select pg_sleep($1)', [pauseMs / 1_000])
        }
      }
      await poll()
      expect([said[0], said.at(-1)]).toEqual([rate * window - 1, -1])
      await pool.query('select pg_sleep(1.5)')
      await poll()
    }
  })

  it.each([
    [1, 0],
    [4, 3],
    [10, 9],
    [3_600, 9],
  ])('after %d seconds at one a second for ten, %d are left', async (seconds, left) => {
    let said = Number.NaN
    const meanwhile = await timed(async () => {
      for (let turn = 0; turn < 10; turn += 1) await request('user1', 1, 10)
      await pass('user1', seconds * 1_000_000)
      said = await request('user1', 1, 10)
    })
    expect(said).toBeGreaterThanOrEqual(left)
    expect(said).toBeLessThanOrEqual(Math.min(9, left + meanwhile))
  })

  it('the table says what is left, and when the last token was taken', async () => {
    const [first, rows, second] = await withinASecond(async () => {
      await request('user1', 1, 10)
      const at = await takenAt('user1')
      await request('user1', 1, 10)
      return [at, (await pool.query('select id, tk from rate_limiting_token_bucket')).rows, await takenAt('user1')] as const
    })
    expect(rows).toEqual([{ id: 'user1', tk: '8' }])
    expect(second).toBeGreaterThan(first)
  })

  it('fault: polled every 0.51 s, one token a second stays one a second', async () => {
    let passed = 0
    const meanwhile = await timed(async () => {
      for (let turn = 0; turn < 10; turn += 1) await request('user1', 1, 10)
      for (let turn = 0; turn < 40; turn += 1) {
        await pass('user1', 510_000)
        if ((await request('user1', 1, 10)) !== -1) passed += 1
      }
    })
    expect(passed).toBeGreaterThanOrEqual(20)
    // What was left of a token before is counted as well.
    expect(passed).toBeLessThanOrEqual(21.4 + meanwhile)
  })

  it('fault: a fast caller does not starve', async () => {
    let passed = 0
    const meanwhile = await timed(async () => {
      for (let turn = 0; turn < 10; turn += 1) await request('user1', 1, 10)
      for (let turn = 0; turn < 100; turn += 1) {
        await pass('user1', 10_000)
        if ((await request('user1', 1, 10)) !== -1) passed += 1
      }
    })
    expect(passed).toBeGreaterThanOrEqual(1)
    expect(passed).toBeLessThanOrEqual(2 + meanwhile)
  })

  it('fault: after idling ten pass, and not eleven', async () => {
    await request('user1', 1, 10)
    await pass('user1', 86_400_000_000)
    let passed = 0
    const meanwhile = await timed(async () => {
      expect(await request('user1', 1, 10)).toBe(9)
      for (let turn = 1; turn < 11; turn += 1) if ((await request('user1', 1, 10)) !== -1) passed += 1
    })
    expect(passed).toBeGreaterThanOrEqual(9)
    expect(passed).toBeLessThanOrEqual(9 + meanwhile)
  })

  it('a refused call changes nothing, and a clock that runs backwards mints nothing', async () => {
    const [before, said, after] = await withinASecond(async () => {
      for (let turn = 0; turn < 10; turn += 1) await request('user1', 1, 10)
      return [await takenAt('user1'), await request('user1', 1, 10), await takenAt('user1')] as const
    })
    expect([said, after]).toEqual([-1, before])
    await pass('user1', -60_000_000)
    expect(await request('user1', 1, 10)).toBe(-1)
  })

  it('eight sessions at once take each token once, on the first call too', async () => {
    const before = await databaseTime()
    const said = await Promise.all(Array.from({ length: 120 }, () => request('user1', 1, 100)))
    const passed = said.filter((left) => left !== -1).length
    expect(passed).toBeGreaterThanOrEqual(100)
    expect(passed).toBeLessThanOrEqual(100 + ((await databaseTime()) - before) / 1_000_000)
  })

  it('never admits anything without a capacity', async () => {
    expect([await request('user1', 0, 10), await request('user1', 1, 0), await request('user1', -1, 10)]).toEqual([-1, -1, -1])
  })

  it('is made over the table that the article made, and again over its own', async () => {
    await pool.query('drop table rate_limiting_token_bucket')
    await pool.query('create table rate_limiting_token_bucket (id text primary key, tk bigint not null, ts timestamptz not null)')
    await pool.query(
      `insert into rate_limiting_token_bucket values ('user1', 3, clock_timestamp() + interval '1 hour'), ('user2', -1, clock_timestamp() + interval '1 hour')`,
    )
    await store.migrate({ compatFunction: true })
    await store.migrate({ compatFunction: true })
    // Both buckets were last used an hour in the future, so nothing is refilled during the test.
    expect([await request('user1', 1, 10), await request('user2', 1, 10)]).toEqual([2, -1])
  })
})
