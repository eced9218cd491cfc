import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { fixedWindow } from '../../../src/algorithms/fixed-window.ts'
import { tokenBucket } from '../../../src/algorithms/token-bucket.ts'
import { digestOf } from '../../../src/stores/postgres/encode.ts'
import { pg, type PostgresPort, postgresStore } from '../../../src/stores/postgres/index.ts'
import type { Call } from '../../../src/stores/store.ts'
import { traces } from '../../../src/testing/index.ts'
import { Reference } from '../../../src/testing/reference.ts'
import { ownStore, readRow } from '../../conformance/postgres-rows.ts'

const { postgres: url } = inject('engines')
const CALLS = 1_500
const START = 1_763_692_800_123_456

/** A server that says of every call, until the call holds the places of its states, that somebody else made one of them meanwhile. */
function contended(port: PostgresPort): PostgresPort {
  return {
    ...port,
    async query(statement, values) {
      const waiting = /_consume_/.test(statement) ? values[2] : /_buckets?_/.test(statement) ? values[1] : undefined
      return waiting === '1' ? [{ reply: null }] : port.query(statement, values)
    },
  }
}

describe.skipIf(url === undefined)('X7: calls that hold the places of their states', () => {
  const { pool, open, close } = ownStore(url, 2)
  const store = postgresStore({ client: contended(pg(pool)), sweepEveryMs: 0 })
  beforeAll(open)
  afterAll(close)

  it('decide and leave what the kernel does, and no place behind', async () => {
    const reference = new Reference()
    let compared = 0
    for (const { now, groups } of traces(20_261_122, CALLS)) {
      const verdicts = await store.consume(groups, { now })
      for (const [index, group] of groups.entries()) expect(verdicts[index]).toMatchObject(reference.decide(group, now))
      compared += groups.length
    }
    expect(compared).toBeGreaterThan(CALLS / 4)
    for (const { id, numbers } of reference.states.values()) expect(await readRow(pg(pool), id)).toEqual(numbers)
    const { rows } = await pool.query('select count(*)::int as empty from sluice_state where unit is null and blocked_until is null')
    expect(rows).toEqual([{ empty: 0 }])
  }, 60_000)

  it('law 1: a denial writes no row anew', async () => {
    const limits = [tokenBucket({ rate: '1/h', burst: 2 }), fixedWindow({ limit: 1, window: '1h' })]
    const calls = limits.map((limit): Call => ({
      id: { scope: { text: `law1:${limit.algorithm.tag}:` }, key: 'k' },
      limit,
      cost: 1_000_000,
      phase: 0,
    }))
    const own = postgresStore({ client: pg(pool), sweepEveryMs: 0 })
    const written = async (): Promise<unknown[]> => {
      const ids = calls.map(({ id }) => digestOf(id))
      return (await pool.query('select ctid::text from sluice_state where id = any($1::uuid[]) order by id', [ids])).rows
    }
    const ask = async (): Promise<string | undefined> => (await own.consume([{ calls }], { now: START }))[0]?.outcome
    expect(await ask()).toBe('allowed')
    const before = await written()
    expect(await ask()).toBe('denied')
    expect(before).toHaveLength(2)
    expect(await written()).toEqual(before)
  })
})
