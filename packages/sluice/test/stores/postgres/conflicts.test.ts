import pgDriver from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import type { AlgorithmTag, AnyLimit } from '../../../src/algorithms/algorithm.ts'
import { concurrency as concurrencyLimit, createLimiter, tokenBucket } from '../../../src/index.ts'
import { digestOf } from '../../../src/stores/postgres/encode.ts'
import { type Concurrency, pg, type PostgresPort, barePostgresStore } from '../../../src/stores/postgres/index.ts'
import type { Store, StoreFailure } from '../../../src/stores/store.ts'
import { audit, type TraceEntry } from '../../../src/testing.ts'
import { schema } from '../../conformance/postgres-rows.ts'
import { draws } from '../../draws.ts'
import * as verbs from '../../../src/testing/store-verbs.ts'

const { postgres: url } = inject('engines')
const limit = tokenBucket({ rate: '1/day', burst: 10 })
const call = (key: string, other = limit) => ({ id: { scope: { text: 'c:' }, key }, limit: other, cost: 1_000_000, phase: 0 })

describe.skipIf(url === undefined).each<[Concurrency, string]>([
  ['lock', 'sluice_state'],
  ['compare-and-swap', 'sluice_swap'],
])('conflicts: %s', (concurrency, table) => {
  const own = schema(url)
  const connect = (): pgDriver.Pool => new pgDriver.Pool({ connectionString: url, max: 8, options: `-c search_path=${own.name}` })
  const pool = connect()
  const open = (onContention: 'wait' | 'fail' = 'wait') =>
    barePostgresStore({ client: pg(pool), concurrency, onContention, sweepEveryMs: 0 })
  const store = open()
  beforeAll(async () => {
    await own.create()
    await store.migrate()
    // A trigger lets the next `most` writes of a row fail with an error code. A sequence counts them, because its count survives the
    // rollback of a failed write.
    await pool.query(`create sequence trips; create table trip (code text, most int); insert into trip values ('00000', 0);
create function trip_over() returns trigger language plpgsql as $$
declare
  t record;
begin
  select * into t from trip;
  if t.most > 0 and nextval('trips') <= t.most then
    raise exception 'restart transaction' using errcode = t.code;
  end if;
  return new;
end $$;
create trigger trip before insert or update on ${table} for each row execute function trip_over()`)
  })
  afterAll(async () => {
    await pool.end()
    await own.drop()
  })
  const trip = (code: string, most: number) =>
    pool.query(`select setval('trips', 1, false); update trip set code = '${code}', most = ${most}`)
  const trips = async (): Promise<number> => {
    const { rows } = await pool.query<{ many: number }>(`select case when is_called then last_value else 0 end::int as many from trips`)
    return rows[0]?.many ?? -1
  }
  const failure = (pending: Promise<unknown>): Promise<StoreFailure> =>
    pending.then(
      () => Promise.reject(new Error('it was answered')),
      (error: StoreFailure) => error,
    )

  it.each(['40001', '40P01'])('%s twice: tried again, and charged once', async (code) => {
    await verbs.decide(store, [{ calls: [call(code)] }])
    await trip(code, 2)
    const [verdict] = await verbs.decide(store, [{ calls: [call(code)] }], { deadline: performance.now() + 10_000 })
    await trip('00000', 0)
    expect(verdict).toMatchObject({ outcome: 'allowed', calls: [{ remaining: 8 }] })
  })

  it('40001 without an end: contention, never a denial, and nothing was charged', async () => {
    await verbs.decide(store, [{ calls: [call('endless')] }])
    await trip('40001', 1_000_000)
    const other = connect()
    const hurried = barePostgresStore({ client: pg(other), concurrency, sweepEveryMs: 0 })
    const error = await failure(verbs.decide(hurried, [{ calls: [call('endless')] }], { deadline: performance.now() + 200 }))
    // The pool is ended first. So a statement that it sent late cannot disturb a later test.
    await other.end()
    await trip('00000', 0)
    expect(error).toMatchObject({ name: 'StoreFailure' })
    expect(['contention', 'timeout']).toContain(error.kind)
    const [verdict] = await verbs.peek(store, [{ calls: [call('endless')] }])
    expect(verdict?.calls[0]?.remaining).toBe(9)
  })

  it('40003, whose outcome nobody knows: counted as spent and never sent again', async () => {
    await trip('40003', 1_000_000)
    const error = await failure(verbs.decide(store, [{ calls: [call('unknown')] }]))
    const sent = await trips()
    await trip('00000', 0)
    expect(error).toMatchObject({ kind: 'protocol', executed: 'unknown' })
    expect(sent).toBe(1)
  })

  it('the first calls of a key, from all sides at once: each is decided, and the limit holds', async () => {
    const outcomes = await Promise.all(Array.from({ length: 60 }, () => verbs.decide(store, [{ calls: [call('first')] }])))
    expect(outcomes.flat().filter(({ outcome }) => outcome === 'allowed')).toHaveLength(10)
    expect(outcomes.flat().filter(({ outcome }) => outcome === 'denied')).toHaveLength(50)
  })

  it('a state that comes and ends between a read and its write is noticed, also if rows are swept meanwhile', async () => {
    const slots = concurrencyLimit({ limit: 3, holdMs: 1 })
    // An algorithm without an SQL function: the store reads its states, computes, and writes them back.
    const unprogrammed: AnyLimit = { ...slots, algorithm: { ...slots.algorithm, tag: 'xx' as AlgorithmTag } }
    const take = async (from: Store, id: string): Promise<number> => {
      const groups = [{ calls: [call('ends', unprogrammed)], options: { hold: { id, micros: 1_000 } } }]
      const [verdict] = await verbs.decide(from, groups, { deadline: performance.now() + 10_000 })
      return verdict?.calls[0]?.grant?.fence ?? Number.NaN
    }
    const port = pg(pool)
    let [calls, other] = [0, Number.NaN]
    const client: PostgresPort = {
      ...port,
      async query(statement, values) {
        calls += 1
        if (calls === 2) {
          other = await take(store, 'other')
          await pool.query('select pg_sleep(0.01)')
          await store.sweep()
        }
        return port.query(statement, values)
      },
    }
    const fence = await take(barePostgresStore({ client, concurrency, sweepEveryMs: 0 }), 'first')
    expect(fence).toBeGreaterThan(other)
  })

  it('groups of four limits in random order, with 8 connections: no deadlock, all or nothing', async () => {
    // The server counts deadlocks for each database. This test has its own database, because other suites cause deadlocks in the shared
    // one.
    const database = `deadlocks_${process.pid}_${table}`
    await pool.query(`create database ${database}`)
    const alone = new pgDriver.Pool({ connectionString: Object.assign(new URL(url as string), { pathname: `/${database}` }).href, max: 8 })
    const there = barePostgresStore({ client: pg(alone), concurrency, sweepEveryMs: 0 })
    await there.migrate()
    const keys = ['w', 'x', 'y', 'z']
    const wide = tokenBucket({ rate: '1/day', burst: 1_000 })
    const group = (turn: number) => ({
      calls: keys.map((_, index) => call(`g:${keys[(index * (turn % 2 === 0 ? 1 : 3) + turn) % 4]}`, wide)),
    })
    const turns = draws(200, 60)
    const verdicts = await Promise.all(Array.from({ length: turns }, (_, turn) => verbs.decide(there, [group(turn)])))
    expect(verdicts.flat().every(({ outcome }) => outcome === 'allowed')).toBe(true)
    const views = await verbs.peek(
      there,
      keys.map((key) => ({ calls: [call(`g:${key}`, wide)] })),
    )
    expect(views.map(({ calls }) => calls[0]?.remaining)).toEqual(keys.map(() => 1_000 - turns))
    await alone.end()
    await expect.poll(() => sessions(database), { timeout: 10_000 }).toBe(0)
    expect(await deadlocks(database)).toBe(0)
    await pool.query(`drop database ${database}`)
  })

  it('under SERIALIZABLE: exact, and undecided at worst', async () => {
    const strict = new pgDriver.Pool({
      connectionString: url,
      max: 8,
      options: `-c search_path=${own.name} -c default_transaction_isolation=serializable`,
    })
    const limiter = createLimiter({
      limit: tokenBucket({ rate: '50/s', burst: 10 }),
      store: barePostgresStore({ client: pg(strict), concurrency }),
      deadlineMs: 5_000,
    })
    const seen: TraceEntry[] = []
    const kinds = new Set<string | undefined>()
    const caller = async (): Promise<void> => {
      for (let turn = 0; turn < draws(25, 8); turn += 1) {
        const { outcome, allowed, at, degraded } = await limiter.check('strict')
        if (outcome === 'undecided') kinds.add(degraded?.kind)
        else seen.push({ at: at * 1_000, cost: 1, allowed })
      }
    }
    await Promise.all(Array.from({ length: 8 }, caller))
    await strict.end()
    // Decisions say milliseconds: an interval may seem shorter by one.
    expect(audit(seen, tokenBucket({ rate: '50/s', burst: 11 })).overGrant).toBe(0)
    expect(['contention', ...kinds]).toEqual(['contention', ...(kinds.size === 0 ? [] : ['contention'])])
  })

  it('onContention fail: a row that is held is no wait and no denial', async () => {
    await verbs.decide(store, [{ calls: [call('held')] }])
    const holder = await pool.connect()
    await holder.query('begin')
    await holder.query(`select from ${table} where id = $1 for update`, [digestOf(call('held').id)])
    expect(await failure(verbs.decide(open('fail'), [{ calls: [call('held')] }]))).toMatchObject({ kind: 'contention', executed: 'no' })
    const [other] = await verbs.decide(open('fail'), [{ calls: [call('free')] }])
    await holder.query('commit')
    holder.release()
    expect(other?.outcome).toBe('allowed')
    expect((await verbs.decide(open('fail'), [{ calls: [call('held')] }]))[0]).toMatchObject({
      outcome: 'allowed',
      calls: [{ remaining: 8 }],
    })
  })

  /** A session reports what it met when it ends. */
  async function sessions(database: string): Promise<number> {
    const { rowCount } = await pool.query('select from pg_stat_activity where datname = $1', [database])
    return Number(rowCount)
  }

  async function deadlocks(database: string): Promise<number> {
    const { rows } = await pool.query<{ many: string }>('select deadlocks as many from pg_stat_database where datname = $1', [database])
    return Number(rows[0]?.many)
  }
})
