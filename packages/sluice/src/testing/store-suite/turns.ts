import { describe, expect, it } from 'vitest'
import type { AlgorithmTag } from '../../algorithms/algorithm.ts'
import { fixedWindow } from '../../algorithms/fixed-window.ts'
import { type Bench, START } from './bench.ts'

/** Plans that take turns on a key, where it takes more calls than random traces have (law 7). */
export function turnsOf(tags: readonly AlgorithmTag[], bench: Bench): void {
  const { ask, call, fresh } = bench

  describe('plans that take turns (law 7)', () => {
    it('a shorter plan takes more in a window of the longer than whole numbers count', async (context) => {
      context.skip(!tags.includes('fw'), 'the store has no program for fixed windows')
      const hour = fixedWindow({ limit: 4_000_000_000, window: '1h' })
      const second = fixedWindow({ limit: 50_000_000, window: '1s' })
      const minute = fixedWindow({ limit: 4_503_599_627, window: '1m', align: 'key', ramp: '1s' })
      for (const last of [hour, minute, second]) {
        const key = fresh()
        const start = Math.floor(START / 3_600_000_000) * 3_600_000_000
        const at = (seconds: number): number => start + Math.round(seconds * 1_000_000)
        await ask([call(key, hour, 2_000_000_000)], at(5))
        for (const seconds of [0, 1, 100, 177.5, 178, 179, 179.5, 180, 181, 181.25, 1_000, 1_000, 1_000.5, 2_000]) {
          const { outcome } = await ask([call(key, second, 30_000_000)], at(3_600 + seconds))
          expect([seconds, outcome]).toEqual([seconds, [179.5, 181.25, 1_000.5].includes(seconds) ? 'denied' : expect.any(String)])
          await bench.sameState(call(key, second).id)
        }
        if (bench.store.adjust !== undefined) {
          for (const [seconds, tokens, receipt] of [
            [2_000.25, 10_000_000],
            [2_000.5, 1_000, 1_999.5],
            [2_001, -120_000_000],
            [2_002, 1],
            [2_002.5, -5],
            [2_500, -5],
          ] as const) {
            await bench.adjust([call(key, second)], [tokens], at(3_600 + seconds), receipt === undefined ? undefined : at(3_600 + receipt))
            await bench.sameState(call(key, second).id)
          }
        }
        for (const seconds of [3_000, 3_599.5, 3_599.75, 3_600, 3_600.5, 3_661, 7_200, 7_201]) {
          await ask([call(key, last, 1_000_000)], at(3_600 + seconds))
          await ask([call(key, second, 50_000_000)], at(3_600 + seconds))
          await bench.sameState(call(key, second).id)
        }
      }
    }, 30_000)
  })
}
