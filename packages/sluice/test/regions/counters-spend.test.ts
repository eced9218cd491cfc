import { describe, expect, it } from 'vitest'
import { MICRO } from '../../src/algorithms/decimal.ts'
import { tokenBucket } from '../../src/algorithms/token-bucket.ts'
import { createCounters, KEPT_MS } from '../../src/regions/counters/counters.ts'
import type { SpendRow } from '../../src/regions/counters/spend.ts'
import { memoryStore } from '../../src/stores/memory/memory-store.ts'
import type { RewritingStore } from '../../src/regions/rewriting-store.ts'
import { manualClock } from '../../src/time/manual.ts'

const SCOPE = { text: 'limiter:limit:tb:' }
/** Full again a second after it was empty. */
const LIMIT = tokenBucket({ rate: '10/s', burst: 10 })
const MAX_CELLS = 5_000
const STEP_MS = 10
/** One key is called in each step, and a bucket is refilled after so many steps. So rows of at most so many keys are needed at a time. */
const FILL_STEPS = 1_000 / STEP_MS
const SWEEP_STEPS = 100

/** Counters whose only peer reads when a test says so. */
function spending() {
  const clock = manualClock()
  const store = memoryStore({ clock }) as unknown as RewritingStore
  const counters = createCounters(store, ['us'], 'run', {
    maxCells: MAX_CELLS,
    cutoffMs: undefined,
    monotonic: () => clock.monotonic(),
    keptMs: KEPT_MS,
  })
  const spend = (key: string): void => counters.spent({ id: { scope: SCOPE, key }, limit: LIMIT, cost: MICRO, phase: 0 }, clock.now())
  return {
    clock,
    counters,
    spend,
    /** Calls so many new keys, each once, and sweeps in between. Returns the most rows that were kept at a time. */
    spendKeys(count: number): number {
      let most = 0
      for (let index = 0; index < count; index += 1) {
        clock.advance(STEP_MS)
        spend(`${clock.now()}`)
        most = Math.max(most, counters.spend.size)
        if (index % SWEEP_STEPS === 0) counters.sweep()
      }
      return most
    },
    /** All that the peer can read after a position. */
    readAll(at: number): { readonly rows: readonly SpendRow[]; readonly cursor: number } {
      const rows: SpendRow[] = []
      for (let cursor = at; ;) {
        const page = counters.page('us', { run: 'run', at: cursor })
        rows.push(...page.rows)
        cursor = page.cursor
        if (page.all) return { rows, cursor }
      }
    },
  }
}

describe('what a region has spent', () => {
  it('is dropped for good while no peer reads: a peer that returns reads only what is kept', () => {
    const { clock, counters, spend, spendKeys, readAll } = spending()
    clock.advance(KEPT_MS + 1)
    expect(spendKeys(8_000)).toBeLessThanOrEqual(FILL_STEPS + SWEEP_STEPS)
    counters.sweep()
    const { rows, cursor } = readAll(0)
    expect(rows).toHaveLength(counters.spend.size)
    expect(rows.length).toBeLessThanOrEqual(FILL_STEPS)
    spend('new')
    expect(readAll(cursor).rows.map(({ key }) => key)).toEqual(['new'])
  })

  it('is dropped for good also if it was in a page before and changed since', () => {
    const { clock, counters, spend, readAll } = spending()
    spend('old')
    const { cursor } = readAll(0)
    spend('old')
    clock.advance(KEPT_MS + 1)
    counters.sweep()
    expect(counters.spend.size).toBe(0)
    spend('new')
    expect(readAll(cursor).rows.map(({ key }) => key)).toEqual(['new'])
  })

  it('fills pages with one row for each key, and reads on where a page ended', () => {
    const { counters, spend, readAll } = spending()
    for (let round = 0; round < 2; round += 1) for (let key = 0; key < 2_000; key += 1) spend(`${key}`)
    const first = counters.page('us', undefined)
    expect(first).toMatchObject({ all: false, births: 2_000 })
    expect(first.rows).toHaveLength(1_000)
    // Read already, and changed since: it is read again.
    spend('0')
    const { rows, cursor } = readAll(first.cursor)
    expect(rows.map(({ key, value }) => [key, value / MICRO])).toEqual([
      ...Array.from({ length: 1_000 }, (_, index) => [`${index + 1_000}`, 2]),
      ['0', 3],
    ])
    expect(readAll(cursor).rows).toEqual([])
  })
})
