import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { fixedWindow, slidingWindowCounter, slidingWindowLog, tokenBucket } from '../../../src/index.ts'
import { digestOf } from '../../../src/stores/postgres/encode.ts'
import type { Decided } from '../../../src/stores/store.ts'
import { FRESH, ownStore } from '../../conformance/postgres-rows.ts'
import * as verbs from '../../../src/testing/store-verbs.ts'

const { postgres: url } = inject('engines')

describe.skipIf(url === undefined)('law 6 on the clock of PostgreSQL', () => {
  const { store, pool, open, close } = ownStore(url, 1)
  beforeAll(open)
  afterAll(close)

  it.each([
    ['10/s', 10, tokenBucket({ rate: '10/s', burst: 10 })],
    ['3/s', 1, tokenBucket({ rate: '3/s', burst: 1 })],
    ['1/day', 1, tokenBucket({ rate: '1/day', burst: 1 })],
    ['1000/s', 5, tokenBucket({ rate: '1000/s', burst: 5 })],
    ['5 in a window of 3 s,', 5, fixedWindow({ limit: 5, window: '3s' })],
    ['5 in a window from the first charge,', 5, fixedWindow({ limit: 5, window: '3s', align: 'first' })],
    ['5 counted in 3 s,', 5, slidingWindowCounter({ limit: 5, window: '3s' })],
    ['5 logged in 3 s,', 5, slidingWindowLog({ limit: 5, window: '3s' })],
  ])('a charge of %s burst %d, is kept until at + resetAfter', async (name, _burst, limit) => {
    const id = { scope: { text: `life:${limit.algorithm.tag}:` }, key: name }
    const [verdict] = await verbs.decide(store, [{ calls: [{ id, limit, cost: 1_000_000, phase: 0 }] }])
    const { outcome, at, calls } = verdict as Decided
    expect(outcome).toBe('allowed')
    const { rows } = await pool.query(
      `select ${FRESH} as until from sluice_state t left join sluice_plan p on p.plan_id = t.plan_id where t.id = $1`,
      [digestOf(id)],
    )
    // If a fifth of a fixed window was used, the window is remembered for a quarter of its length after its end (law 7).
    const kept = limit.algorithm.tag === 'fw' ? 750_000 : 0
    expect(rows).toEqual([{ until: String(at + (calls[0]?.resetAfter as number) + kept) }])
  })
})
