import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { createLimiter, tokenBucket } from '../../../src/index.ts'
import { ownStore } from '../../conformance/postgres-rows.ts'

const { postgres: url } = inject('engines')

describe.skipIf(url === undefined)('forgetting while deciding', () => {
  const { store, open, close } = ownStore(url, 12)
  beforeAll(open)
  afterAll(close)

  it('does not deadlock, in whatever order the limits are', async () => {
    const limit = tokenBucket({ rate: '1000/s', burst: 1_000 })
    const limiters = [
      { b: limit, a: limit, c: limit },
      { c: limit, b: limit, a: limit },
    ].map((limits) => createLimiter({ name: 'reset', limits, store, deadlineMs: 10_000 }))
    const outcomes = new Map<string, number>()
    const check = async (index: number): Promise<void> => {
      for (let turn = 0; turn < 40; turn += 1) {
        const { outcome } = await (limiters[index % 2] as (typeof limiters)[number]).check('k')
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
      }
    }
    const forget = async (index: number): Promise<void> => {
      for (let turn = 0; turn < 40; turn += 1) await (limiters[index % 2] as (typeof limiters)[number]).reset('k')
    }
    await Promise.all([...Array.from({ length: 8 }, (_, index) => check(index)), forget(0), forget(1)])
    expect([...outcomes]).toEqual([['allowed', 320]])
  })
})
