import type { PoolClient } from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import type { AnyLimit } from '../../../src/algorithms/algorithm.ts'
import { tokenBucket } from '../../../src/algorithms/token-bucket.ts'
import { digestOf } from '../../../src/stores/postgres/encode.ts'
import { pg } from '../../../src/stores/postgres/index.ts'
import type { Call, CallGroup } from '../../../src/stores/store.ts'
import { seeded } from '../../../src/testing/random.ts'
import { Reference } from '../../../src/testing/reference.ts'
import { ownStore, readRow } from '../../conformance/postgres-rows.ts'
import { draws } from '../../draws.ts'
import * as verbs from '../../../src/testing/store-verbs.ts'

const LIMITS = [
  tokenBucket({ rate: '10/s', burst: 20 }),
  tokenBucket({ rate: '7/s', burst: 5 }),
  tokenBucket({ rate: '100/min', burst: 3 }),
  tokenBucket({ rate: '3/day', burst: 40 }),
]
const scope = { text: 'alike:tb:' }
const call = (key: number, limit: AnyLimit, cost = 1): Call => ({ id: { scope, key: `k${key}` }, limit, cost: cost * 1_000_000, phase: 0 })
const START = 1_763_692_800_123_456

const { postgres: url } = inject('engines')

describe.skipIf(url === undefined)('calls of one cost to buckets of one plan', () => {
  const { store, pool, open, close } = ownStore(url, 1)
  beforeAll(open)
  afterAll(close)

  it('to one bucket or to many, the functions for them return and write what the kernel does, like that for all', async () => {
    const reference = new Reference()
    const random = seeded(20_261_121)
    const pick = (below: number): number => Math.floor(random() * below)
    const seen = { one: 0, many: 0, denied: 0, changed: 0 }
    let now = START
    for (let round = 0; round < draws(500, 150); round += 1) {
      now += random() < 0.1 ? -pick(200_000) : pick(400_000)
      // Most calls have the limit that the rows have already, so the function for equal calls decides. At times another limit comes, and
      // all rows are converted.
      const limit = LIMITS[random() < 0.9 ? Math.floor(round / 200) % LIMITS.length : pick(LIMITS.length)] as AnyLimit
      const cost = [0.5, 1, 1, 2, 30][pick(5)] as number
      const first = pick(16)
      const keys =
        random() < 0.4
          ? Array.from({ length: 1 + pick(12) }, () => first)
          : Array.from({ length: 2 + pick(12) }, (_, index) => (first + index * 5) % 16)
      const groups = keys.map((key): CallGroup => ({ calls: [call(key, limit, cost)] }))
      const verdicts = await verbs.decide(store, groups, { now })
      expect(verdicts).toMatchObject(groups.map((group) => reference.decide(group, now)))
      if (new Set(keys).size === 1) seen.one += 1
      else seen.many += 1
      seen.denied += verdicts.filter(({ outcome }) => outcome === 'denied').length
      if (random() > 0.03) continue
      const { id } = call(first, limit)
      const duration = random() < 0.5 ? null : 1 + pick(1_000_000)
      await verbs.block(store, [id], duration, { now })
      reference.block(id, duration === null ? 0 : now + duration)
      seen.changed += 1
    }
    expect(Math.min(seen.one, seen.many, seen.denied, 10 * seen.changed)).toBeGreaterThan(draws(100, 20))
    for (const { id, numbers } of reference.states.values()) expect(await readRow(pg(pool), id)).toEqual(numbers)
  }, 60_000)
})

describe.skipIf(url === undefined)('the first calls of keys', () => {
  const { store, pool, open, close } = ownStore(url, 1)
  beforeAll(open)
  afterAll(close)

  it('alone, or in a batch with keys that have rows, return and write what the kernel does', async () => {
    const reference = new Reference()
    const random = seeded(20_261_128)
    let [keys, now] = [0, START]
    const rounds = draws(200, 60)
    for (let round = 0; round < rounds; round += 1) {
      now += Math.floor(random() * 400_000)
      const limit = LIMITS[round % LIMITS.length] as AnyLimit
      const cost = [0.5, 1, limit.capacity, limit.capacity + 1][Math.floor(random() * 4)] as number
      const fresh = Array.from({ length: round % 5 }, () => (keys += 1) + 1_000)
      // Keys of the same limit, some rounds before.
      const known = Array.from({ length: Math.floor(random() * 4) }, () => 1_000 + Math.ceil(random() * keys))
      const isAlone = round % 5 === 1 && random() < 0.5
      // One new key, called once or several times; or different keys.
      const list = isAlone
        ? Array.from({ length: 1 + (round % 3) }, () => keys + 1_000)
        : [...new Set([...fresh, ...(keys === 0 ? [] : known)])]
      const groups = list.map((key): CallGroup => ({ calls: [call(key, limit, cost)] }))
      expect(await verbs.decide(store, groups, { now })).toMatchObject(groups.map((group) => reference.decide(group, now)))
    }
    expect(keys).toBeGreaterThan(rounds)
    for (const { id, numbers } of reference.states.values()) expect(await readRow(pg(pool), id)).toEqual(numbers)
  }, 60_000)
})

describe.skipIf(url === undefined)('the same from many connections', () => {
  const { store, pool, open, close } = ownStore(url, 8)
  beforeAll(open)
  afterAll(close)

  /** Those of this test alone: other tests use the same server. */
  const BLOCKED = 'select pid from pg_locks where not granted and $1 = any(pg_blocking_pids(pid))'
  const pidOf = async (client: PoolClient): Promise<number> =>
    (await client.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid ?? 0
  /** How many calls wait for what a connection has locked. */
  const waitingFor = (pid: number) => async (): Promise<number | null> => (await pool.query(BLOCKED, [pid])).rowCount

  it.each([1, 2])('charge nothing while another transaction inserts a row of %i new keys, and then once', async (many) => {
    const limit = tokenBucket({ rate: '1/day', burst: 30 })
    const groups = Array.from({ length: many }, (_, key): CallGroup => ({ calls: [call(200 + 10 * many + key, limit)] }))
    const ids = groups.map(({ calls: [one] }) => digestOf((one as Call).id)).sort()
    const other = await pool.connect()
    const waiting = waitingFor(await pidOf(other))
    await other.query('begin')
    await other.query('insert into sluice_state (id) values ($1)', [ids.at(-1)])
    const decided = verbs.decide(store, groups)
    await expect.poll(waiting).toBe(1)
    await other.query('commit')
    other.release()
    expect((await decided).map(({ calls }) => calls[0]?.remaining)).toEqual(groups.map(() => 29))
    const { rows } = await pool.query('select from sluice_state where id = any($1) and plan_id is not null', [ids])
    expect(rows).toHaveLength(many)
    expect((await verbs.decide(store, groups)).map(({ calls }) => calls[0]?.remaining)).toEqual(groups.map(() => 28))
  })

  it('do not deadlock with who holds a state that was made while they waited', async () => {
    const limit = tokenBucket({ rate: '1/day', burst: 30 })
    const [low, middle, high] = [100, 101, 102]
      .map((key) => ({ key, id: digestOf(call(key, limit).id) }))
      .sort((one, other) => (one.id < other.id ? -1 : 1))
      .map(({ key, id }) => ({ id, group: { calls: [call(key, limit)] } }))
    if (low === undefined || middle === undefined || high === undefined) throw new Error('three of them')
    await verbs.decide(store, [middle.group])
    await verbs.decide(store, [high.group])
    const [last, first] = [await pool.connect(), await pool.connect()]
    const lock = 'select from sluice_state where id = $1 for update'
    await last.query('begin')
    await last.query(lock, [high.id])
    // The call locks the row of `middle`, and waits for the row of `high`. The row of `low` does not exist yet.
    const decided = verbs.decide(
      store,
      [low, middle, high].map(({ group }) => group),
    )
    await expect.poll(waitingFor(await pidOf(last))).toBe(1)
    const [caller] = (await pool.query<{ pid: number }>(BLOCKED, [await pidOf(last)])).rows
    await verbs.decide(store, [low.group])
    await first.query('begin')
    await first.query(lock, [low.id])
    const other = first.query(lock, [middle.id])
    await expect.poll(waitingFor(caller?.pid ?? 0)).toBe(1)
    await last.query('commit')
    // Without a deadlock nobody is ended by the server.
    await other
    await first.query('commit')
    expect((await decided).map(({ calls }) => calls[0]?.remaining)).toEqual([28, 28, 28])
    for (const client of [first, last]) client.release()
  })

  it('admits exactly the burst of every bucket, whoever else has moved its row meanwhile', async () => {
    const limit = tokenBucket({ rate: '1/day', burst: 30 })
    const passed = new Map<string, number>()
    const random = seeded(7)
    const batch = async (): Promise<void> => {
      const keys = [...new Set(Array.from({ length: 10 }, () => Math.floor(random() * 20)))]
      const verdicts = await verbs.decide(
        store,
        keys.map((key) => ({ calls: [call(key, limit)] })),
      )
      verdicts.forEach(({ outcome }, index) => {
        expect(['allowed', 'denied']).toContain(outcome)
        if (outcome === 'allowed') passed.set(`k${keys[index]}`, (passed.get(`k${keys[index]}`) ?? 0) + 1)
      })
    }
    await Promise.all(
      Array.from({ length: 8 }, async () => {
        for (let round = 0; round < 40; round += 1) await batch()
      }),
    )
    expect(passed.size).toBe(20)
    expect([...passed.values()]).toEqual(Array.from({ length: 20 }, () => 30))
  }, 60_000)
})
