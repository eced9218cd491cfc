import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { arrayEntries, entryPairs, type LogState } from '../../src/algorithms/log-state.ts'
import { createLimiter, memoryStore, slidingWindowLog } from '../../src/index.ts'
import { Arena } from '../../src/algorithms/log-arena.ts'
import { Ring, RING_WIDTH, sizeAt } from '../../src/algorithms/log-ring.ts'
import { manualClock } from '../../src/time/manual.ts'

const steps = fc.array(
  fc.record({ log: fc.nat(3), skip: fc.nat(6), added: fc.nat(5), merges: fc.boolean(), later: fc.nat(1_000), rewrite: fc.nat(9) }),
  { maxLength: 300 },
)

describe('the rings of logs', () => {
  it('are what a plain list is, however they grow, drop, merge and share the arena', () => {
    fc.assert(
      fc.property(steps, (run) => {
        const arena = new Arena()
        const cells = new Float64Array(4 * RING_WIDTH)
        const ring = new Ring(arena)
        const lists: number[][] = [[], [], [], []]
        lists.forEach((_, log) => {
          ring.create()
          ring.save(cells, log * RING_WIDTH)
        })
        let now = 1_763_692_800_123_456
        for (const { log, skip, added, merges, later, rewrite } of run) {
          now += later + 1
          const list = lists[log] as number[]
          ring.load(cells, log * RING_WIDTH)
          const dropped = Math.min(skip, list.length / 2)
          const entries = rewrite === 0 ? arrayEntries(list) : ring
          const state: LogState = {
            entries,
            skip: dropped,
            addedAt: now,
            added,
            merges: merges && dropped < list.length / 2,
            window: 7,
            keepFor: 9,
          }
          lists[log] = entryPairs(state)
          ring.apply(state)
          ring.save(cells, log * RING_WIDTH)
        }
        lists.forEach((list, log) => {
          ring.load(cells, log * RING_WIDTH)
          expect(entryPairs({ entries: ring, skip: 0, addedAt: 0, added: 0, merges: false, window: 7, keepFor: 9 })).toEqual(list)
        })
        const used = [0, 1, 2, 3].map((log) => Arena.bytesOf(sizeAt(cells, log * RING_WIDTH)))
        expect(arena.bytes).toBe(used.reduce((sum, bytes) => sum + bytes, 0))
      }),
      { seed: 20_261_121, numRuns: 600 },
    )
  })

  it('use given-back blocks again, and cut pages without overlap', () => {
    const arena = new Arena()
    const taken: [block: number, size: number][] = []
    for (let index = 0; index < 3_000; index += 1) {
      const size = (index * 7) % 15
      const block = arena.take(size)
      taken.push([block, size])
      if (index % 3 === 0) arena.giveBack(...(taken.shift() as [number, number]))
    }
    const spans = taken.map(([block, size]) => [block, block + 2 * 2 ** size] as const).toSorted((one, other) => one[0] - other[0])
    spans.slice(1).forEach(([start], index) => expect(start).toBeGreaterThanOrEqual((spans[index] as readonly [number, number])[1]))
    expect(arena.bytes).toBe(taken.reduce((sum, [, size]) => sum + Arena.bytesOf(size), 0))
  })

  it('count their sums anew long before whole numbers end', () => {
    const arena = new Arena()
    const ring = new Ring(arena)
    ring.create()
    const huge = 2 ** 50
    for (let at = 1; at <= 20; at += 1) {
      ring.apply({ entries: ring, skip: at > 2 ? 1 : 0, addedAt: at, added: huge, merges: false, window: 1, keepFor: 0 })
      expect(ring.through(ring.length - 1) - ring.through(-1)).toBe(huge * Math.min(at, 2))
      expect(ring.through(ring.length - 1)).toBeLessThan(2 ** 53)
    }
  })

  it('are bounded: a log that cannot grow is undecided, and goes on once others are spent', () => {
    const clock = manualClock()
    const store = memoryStore({ maxBytes: 16 * 64, clock })
    const limiter = createLimiter({ limit: slidingWindowLog({ limit: 100, window: '1s' }), store, clock })
    const charge = (key: string, times: number): string[] =>
      Array.from({ length: times }, () => {
        clock.shift(1)
        return limiter.checkSync(key).outcome
      })
    expect(new Set(charge('a', 32))).toEqual(new Set(['allowed']))
    expect(new Set(charge('b', 32))).toEqual(new Set(['allowed']))
    expect(charge('a', 1)).toEqual(['undecided'])
    clock.advance(1_000)
    expect(new Set(charge('c', 32))).toEqual(new Set(['allowed']))
  })
})
