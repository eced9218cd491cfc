import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import type { AnyLimit } from '../../../src/algorithms/algorithm.ts'
import { fixedWindow, slidingWindowCounter, slidingWindowLog, tokenBucket } from '../../../src/index.ts'
import { digestOf } from '../../../src/stores/postgres/encode.ts'
import { functionNames } from '../../../src/stores/postgres/functions.ts'
import { pg, barePostgresStore } from '../../../src/stores/postgres/index.ts'
import type { Call } from '../../../src/stores/store.ts'
import { manualClock } from '../../../src/testing.ts'
import { systemTime } from '../../../src/time/system.ts'
import { ownStore } from '../../conformance/postgres-rows.ts'
import { idleLimit } from '../families/idle-window.ts'
import * as verbs from '../../../src/testing/store-verbs.ts'

const { postgres: url } = inject('engines')

/** On the server's clock: a charge of now counts for a minute or longer, whenever the test runs, and a charge an hour ago is spent. */
const LIMITS: readonly AnyLimit[] = [
  tokenBucket({ rate: '7/h', burst: 7 }),
  fixedWindow({ limit: 10, window: '1m', align: 'first' }),
  slidingWindowCounter({ limit: 10, window: '1m' }),
  slidingWindowLog({ limit: 10, window: '1m' }),
]
const HOUR = 3_600_000_000

describe.skipIf(url === undefined)('sweeping', () => {
  const { store, pool, open, close } = ownStore(url, 2)
  beforeAll(open)
  afterAll(close)

  const call = (key: string, limit: AnyLimit): Call => ({
    id: { scope: { text: `sweep:${limit.algorithm.tag}:` }, key },
    limit,
    cost: 1_000_000,
    phase: 0,
  })
  const charge = async (key: string, now: number): Promise<void> => {
    await verbs.decide(store, [{ calls: LIMITS.map((limit) => call(key, limit)) }], { now })
  }
  const rows = async (key: string): Promise<number> => {
    const ids = LIMITS.map((limit) => digestOf(call(key, limit).id))
    const { rows: found } = await pool.query<{ many: number }>(
      'select count(*)::int as many from sluice_state where id = any($1::uuid[])',
      [ids],
    )
    return found[0]?.many ?? -1
  }

  it('deletes states of an algorithm without functions when they have expired, and not before', async () => {
    const now = systemTime.now()
    const limit = idleLimit(10, 60)
    for (const [key, at] of [
      ['expired', now - HOUR],
      ['live', now],
    ] as const)
      await verbs.decide(store, [{ calls: [call(key, limit)] }], { now: at })
    const live = call('live', limit)
    await verbs.block(store, [live.id], 1)
    expect(await store.sweep()).toBe(1)
    expect(await verbs.peek(store, [{ calls: [live] }])).toMatchObject([{ calls: [{ remaining: 9 }] }])
    await verbs.adjust(store, [live], [1_000_000])
    // Only a block that is over remains.
    await expect.poll(() => store.sweep(), { interval: 200 }).toBe(1)
    expect((await pool.query('select from sluice_state')).rowCount).toBe(0)
  })

  it('deletes rows that are expired, with the entries of logs, and no others', async () => {
    const now = systemTime.now()
    await charge('late', now - HOUR)
    await charge('fresh', now)
    await charge('blocked', now - HOUR)
    await verbs.block(
      store,
      LIMITS.map((limit) => call('blocked', limit).id),
      HOUR,
    )
    expect(await store.sweep()).toBe(4)
    expect([await rows('late'), await rows('fresh'), await rows('blocked')]).toEqual([0, 4, 4])
    const { rows: entries } = await pool.query('select count(*)::int as many from sluice_log')
    expect(entries).toEqual([{ many: 2 }])
    expect(await store.sweep()).toBe(0)
  })

  it('goes past a row that is locked, and takes it the next time', async () => {
    await charge('held', systemTime.now() - HOUR)
    const holder = await pool.connect()
    await holder.query('begin')
    await holder.query('select from sluice_state where id = $1 for update', [digestOf(call('held', LIMITS[0] as AnyLimit).id)])
    expect(await store.sweep()).toBe(3)
    await holder.query('commit')
    holder.release()
    expect(await store.sweep()).toBe(1)
    expect(await rows('held')).toBe(0)
  })

  it('goes through a table of many pages', async () => {
    const now = systemTime.now()
    const [limit] = LIMITS as [AnyLimit]
    const keys = Array.from({ length: 6_000 }, (_, index) => ({ calls: [call(`many${index}`, limit)] }))
    for (let from = 0; from < keys.length; from += 500) await verbs.decide(store, keys.slice(from, from + 500), { now: now - HOUR })
    const { rows: swept } = await pool.query<{ reply: number[] }>(`select ${functionNames('sluice').get('sweep')}(2, 3)::int[] as reply`)
    const [gone = 0, more] = swept[0]?.reply ?? []
    expect(more).toBe(1)
    // Three pages of those that 6,000 rows take.
    expect([gone > 0, gone < 1_000]).toEqual([true, true])
    expect(await store.sweep()).toBe(6_000 - gone)
  })

  it('happens now and then concurrent decisions', async () => {
    const clock = manualClock()
    const concurrent = barePostgresStore({ client: pg(pool), clock, sweepEveryMs: 1_000, random: () => 0 })
    await charge('concurrent', systemTime.now() - HOUR)
    const decide = () => verbs.decide(concurrent, [{ calls: [call('swept', LIMITS[0] as AnyLimit)] }])
    await decide()
    expect(await rows('concurrent')).toBe(4)
    for (let turn = 0; turn < 100 && (await rows('concurrent')) > 0; turn += 1) {
      clock.advance(1_000)
      await decide()
    }
    expect(await rows('concurrent')).toBe(0)
  })

  it('leaves a bucket without its plan: nobody knows how long it counts', async () => {
    await charge('no plan', systemTime.now() - HOUR)
    await pool.query('delete from sluice_plan')
    expect(await store.sweep()).toBe(3)
    expect(await rows('no plan')).toBe(1)
  })

  it('O7: keeps rows that still deny, although their `until`, the end of a block, has passed', async () => {
    const spent = LIMITS.map((limit) => ({ ...call('spent', limit), cost: limit.capacity * 1_000_000 }))
    await verbs.decide(store, [{ calls: spent }])
    await verbs.block(
      store,
      spent.map(({ id }) => id),
      1,
    )
    await store.sweep()
    expect(await rows('spent')).toBe(4)
    const outcomes = await verbs.peek(
      store,
      LIMITS.map((limit) => ({ calls: [call('spent', limit)] })),
    )
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(['denied', 'denied', 'denied', 'denied'])
    expect(outcomes.some(({ calls }) => calls.some(({ blockedFor }) => blockedFor !== undefined))).toBe(false)
  })
})
