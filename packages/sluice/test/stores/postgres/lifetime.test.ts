import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { tokenBucket } from '../../../src/algorithms/token-bucket.ts'
import type { GroupVerdict } from '../../../src/stores/store.ts'
import { ownStore } from '../../conformance/postgres-rows.ts'

const { postgres: url } = inject('engines')

describe.skipIf(url === undefined)('law 6 on the clock of PostgreSQL', () => {
  const { store, pool, open, close } = ownStore(url, 1)
  beforeAll(open)
  afterAll(close)

  it.each([
    ['10/s', 10],
    ['3/s', 1],
    ['1/day', 1],
    ['1000/s', 5],
  ])('a charge of %s, burst %d, is kept until at + resetAfter', async (rate, burst) => {
    const limit = tokenBucket({ rate, burst })
    const [verdict] = await store.consume([{ calls: [{ id: { scope: { text: 'life:' }, key: rate }, limit, cost: 1_000_000, phase: 0 }] }])
    const { outcome, at, calls } = verdict as GroupVerdict
    expect(outcome).toBe('allowed')
    const { rows } = await pool.query('select until from sluice_tb where id = $1', [`life:${rate}`])
    expect(rows).toEqual([{ until: String(at + (calls[0]?.resetAfter as number)) }])
  })
})
