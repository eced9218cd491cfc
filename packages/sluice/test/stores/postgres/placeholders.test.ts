import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { fixedWindow } from '../../../src/algorithms/fixed-window.ts'
import { tokenBucket } from '../../../src/algorithms/token-bucket.ts'
import { digestOf } from '../../../src/stores/postgres/encode.ts'
import { pg, type PostgresPort, barePostgresStore } from '../../../src/stores/postgres/index.ts'
import type { Call } from '../../../src/stores/store.ts'
import { traces } from '../../../src/testing.ts'
import { Reference } from '../../../src/testing/reference.ts'
import { ownStore, readRow } from '../../conformance/postgres-rows.ts'
import * as verbs from '../../../src/testing/store-verbs.ts'

const { postgres: url } = inject('engines')
const CALLS = 1_500
const START = 1_763_692_800_123_456

/**
 * A server that answers every call as if another transaction had inserted one of its states meanwhile. It does so until the call inserts
 * placeholder rows.
 */
function contended(port: PostgresPort): PostgresPort {
  return {
    ...port,
    async query(statement, values) {
      const waiting = /_consume_/.test(statement) ? values[2] : /_buckets?_/.test(statement) ? values[1] : undefined
      return waiting === '1' ? [{ reply: null }] : port.query(statement, values)
    },
  }
}

describe.skipIf(url === undefined)('X7: calls that insert placeholder rows', () => {
  const { pool, open, close } = ownStore(url, 2)
  const store = barePostgresStore({ client: contended(pg(pool)), sweepEveryMs: 0 })
  beforeAll(open)
  afterAll(close)
  const empty = async (): Promise<unknown> => {
    const { rows } = await pool.query<{ many: number }>(
      'select count(*)::int as many from sluice_state where plan_id is null and blocked_until is null',
    )
    return rows[0]?.many
  }

  it('decide and leave what the kernel does, and no placeholder behind', async () => {
    const reference = new Reference()
    let compared = 0
    for (const { now, groups } of traces(20_261_122, CALLS)) {
      const verdicts = await verbs.decide(store, groups, { now })
      for (const [index, group] of groups.entries()) expect(verdicts[index]).toMatchObject(reference.decide(group, now))
      compared += groups.length
    }
    expect(compared).toBeGreaterThan(CALLS / 4)
    for (const { id, numbers } of reference.states.values()) expect(await readRow(pg(pool), id)).toEqual(numbers)
    expect(await empty()).toBe(0)
  }, 60_000)

  it('leave none behind for a group that is refused', async () => {
    const limit = tokenBucket({ rate: '1/h', burst: 2 })
    const id = (key: string) => ({ scope: { text: 'refused:' }, key })
    const calls = [1, 3].map((tokens): Call => ({ id: id(`k${tokens}`), limit, cost: tokens * 1_000_000, phase: 0 }))
    expect((await verbs.decide(store, [{ calls }], { now: START }))[0]?.outcome).toBe('impossible')
    expect(await empty()).toBe(0)
  })

  it('law 1: a denial writes no row anew', async () => {
    const limits = [tokenBucket({ rate: '1/h', burst: 2 }), fixedWindow({ limit: 1, window: '1h' })]
    const calls = limits.map((limit): Call => ({
      id: { scope: { text: `law1:${limit.algorithm.tag}:` }, key: 'k' },
      limit,
      cost: 1_000_000,
      phase: 0,
    }))
    const own = barePostgresStore({ client: pg(pool), sweepEveryMs: 0 })
    const written = async (): Promise<unknown[]> => {
      const ids = calls.map(({ id }) => digestOf(id))
      return (await pool.query('select ctid::text from sluice_state where id = any($1::uuid[]) order by id', [ids])).rows
    }
    const decide = async (): Promise<string | undefined> => (await verbs.decide(own, [{ calls }], { now: START }))[0]?.outcome
    expect(await decide()).toBe('allowed')
    const before = await written()
    expect(await decide()).toBe('denied')
    expect(before).toHaveLength(2)
    expect(await written()).toEqual(before)
  })
})
