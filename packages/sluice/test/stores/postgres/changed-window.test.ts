import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { slidingWindowCounter } from '../../../src/algorithms/sliding-window-counter.ts'
import { memoryStore } from '../../../src/stores/memory/memory-store.ts'
import type { Call } from '../../../src/stores/store.ts'
import * as verbs from '../../../src/testing/store-verbs.ts'
import { ownStore } from '../../conformance/postgres-rows.ts'

const { postgres: url } = inject('engines')
const DAY = 86_400_000_000
const START = 20_000 * DAY
const [daily, hourly] = [slidingWindowCounter({ limit: 1e6, window: '1d' }), slidingWindowCounter({ limit: 1e6, window: '1h' })]

describe.skipIf(url === undefined)('a counter whose window has become shorter', () => {
  const { store, open, close } = ownStore(url, 1)
  beforeAll(open)
  afterAll(close)
  const call = (tokens: number, limit = hourly): Call => ({
    id: { scope: { text: 'shorter:' }, key: 'k' },
    limit,
    cost: tokens * 1_000_000,
    phase: 0,
  })

  it('X7: weighs the window before in the parts of the longer window, as the kernel does', async () => {
    const memory = memoryStore()
    const decide = async (one: Call, now: number): Promise<unknown[]> =>
      Promise.all([memory, store].map(async (each) => (await verbs.decide(each, [{ calls: [one] }], { now }))[0]))
    await decide(call(1e6, daily), START)
    // Half a day and a microsecond of the previous window are left. That is rounded up to 432,001 of 864,000 parts, so more than a token
    // beyond one half counts.
    const now = START + DAY + DAY / 2 - 1
    for (const [tokens, outcome] of [
      [499_999, 'denied'],
      [499_998, 'allowed'],
    ] as const) {
      const [kernel, row] = await decide(call(tokens), now)
      expect(kernel).toMatchObject({ outcome })
      expect(row).toEqual(kernel)
    }
  })
})
