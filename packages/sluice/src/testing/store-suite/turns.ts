import { describe, expect, it } from 'vitest'
import { fixedWindow } from '../../algorithms/fixed-window.ts'
import { slidingWindowCounter } from '../../algorithms/sliding-window-counter.ts'
import { tokenBucket } from '../../algorithms/token-bucket.ts'
import type { Micros } from '../../time/micros.ts'
import { type Bench, START } from './bench.ts'

const ADOPTS = 'a peek under a changed limit adopts it'

/** Cases in which limits alternate on a key, and which random traces are too short for. */
export function turnsOf(bench: Bench): void {
  const { decide, call, fresh, tags } = bench

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
        await decide([call(key, hour, 2_000_000_000)], at(5))
        for (const seconds of [0, 1, 100, 177.5, 178, 179, 179.5, 180, 181, 181.25, 1_000, 1_000, 1_000.5, 2_000]) {
          const { outcome } = await decide([call(key, second, 30_000_000)], at(3_600 + seconds))
          if ([179.5, 181.25, 1_000.5].includes(seconds)) expect([seconds, outcome]).toEqual([seconds, 'denied'])
          await bench.sameState(call(key, second).id)
        }
        if (bench.can('adjust')) {
          const adjustAt = (seconds: number, tokens: number, receipt?: Micros): Promise<void> =>
            bench.adjust(call(key, second), tokens, at(3_600 + seconds), receipt)
          await adjustAt(2_000.25, 10_000_000)
          await adjustAt(2_000.5, 1_000, at(3_600 + 1_999.5))
          await adjustAt(2_001, -120_000_000)
          await adjustAt(2_002, 1)
          await adjustAt(2_002.5, -5)
          await adjustAt(2_500, -5)
        }
        for (const seconds of [3_000, 3_599.5, 3_599.75, 3_600, 3_600.5, 3_661, 7_200, 7_201]) {
          await decide([call(key, last, 1_000_000)], at(3_600 + seconds))
          await decide([call(key, second, 50_000_000)], at(3_600 + seconds))
          await bench.sameState(call(key, second).id)
        }
      }
    }, 30_000)

    it('an ended window of a counter without charges is as absent as one that was deleted', async (context) => {
      context.skip(!tags.includes('sc') || !bench.can('adjust'), 'the store has no program for counters, or no adjust')
      const short = call(fresh(), slidingWindowCounter({ limit: 5, window: '3s' }))
      const long = { ...short, limit: slidingWindowCounter({ limit: 5, window: '1m' }) }
      const start = Math.floor(START / 60_000_000) * 60_000_000
      const at = (seconds: number): number => start + seconds * 1_000_000
      await decide([short], at(21.5))
      // Prolongs the window that began at second 24, so it ends at second 84.
      await decide([long], at(25))
      await bench.adjust(long, 1, at(25), at(25))
      await bench.sameState(long.id)
      // The next window begins by the clock at second 60, and not at second 84.
      expect((await decide([long], at(84.5))).calls).toMatchObject([{ outcome: 'allowed', resetAfter: (180 - 84.5) * 1_000_000 }])
    })

    it('a shorter plan in a window of the longer that its own do not divide', async (context) => {
      context.skip(!tags.includes('fw'), 'the store has no program for fixed windows')
      const long = fixedWindow({ limit: 10, window: '10s', align: 'first' })
      const short = fixedWindow({ limit: 4, window: '3s', align: 'first' })
      for (const costs of [[1], [4], [2, 3, 1]]) {
        const key = fresh()
        await decide([call(key, long, 7)], START)
        let count = 0
        for (const seconds of [10, 11, 13, 15.5, 16, 18.999999, 19, 19, 19.5, 19.999999, 20]) {
          const now = START + Math.round(seconds * 1_000_000)
          await decide([call(key, short, costs[(count += 1) % costs.length])], now)
          if (seconds === 19.5 && bench.can('adjust')) await bench.adjust(call(key, short), -1, now)
          await bench.sameState(call(key, short).id)
        }
      }
    })

    it('a bucket in debt that is full by the smaller limit is not full by the larger one before it would be', async (context) => {
      context.skip(!tags.includes('tb') || !bench.can('adjust'), 'the store has no adjust, or no program for buckets')
      const [large, small] = [tokenBucket({ rate: '1/s', burst: 60 }), tokenBucket({ rate: '1/s', burst: 40 })]
      const at = (seconds: number): number => START + seconds * 1_000_000
      const first: readonly ((key: string) => Promise<unknown>)[] = [
        async () => {},
        (key) => decide([call(key, small)], at(75)),
        (key) => bench.adjust(call(key, small), -1, at(75)),
        (key) => bench.adjust(call(key, small), 1, at(75)),
      ]
      for (const change of first) {
        const key = fresh()
        await decide([call(key, large, 60)], START)
        await bench.adjust(call(key, small), -30, START)
        await change(key)
        expect((await decide([call(key, large, 41)], at(75))).outcome).toBe('denied')
        await bench.sameState(call(key, large).id)
        expect((await decide([call(key, large, 60)], at(150))).outcome).toBe('allowed')
        await bench.sameState(call(key, large).id)
      }
    })

    it('a peek under a changed limit answers as a check at that instant, and converts nothing', async (context) => {
      context.skip(bench.options.peeksAdopt === true, ADOPTS)
      context.skip(!tags.includes('tb'), 'the store has no program for buckets')
      const [slow, fast] = [tokenBucket({ rate: '1/h', burst: 10 }), tokenBucket({ rate: '1/s', burst: 10 })]
      const key = fresh()
      await decide([call(key, slow, 10)], START)
      const before = await bench.options.readState(call(key, slow).id)
      const seen = await bench.peek([call(key, fast)], START)
      expect(await bench.options.readState(call(key, slow).id)).toEqual(before)
      expect(seen).toMatchObject({ outcome: 'denied', retryAfter: 1_000_000 })
      // The denied call converts the state to its limit, so the stated wait is right from now on.
      expect(await decide([call(key, fast)], START)).toEqual(seen)
      expect((await decide([call(key, fast)], START + 999_999)).outcome).toBe('denied')
      expect((await decide([call(key, fast)], START + 1_000_000)).outcome).toBe('allowed')
    })

    it('a peek under a limit with a smaller burst takes nothing from the key', async (context) => {
      context.skip(bench.options.peeksAdopt === true, ADOPTS)
      context.skip(!tags.includes('tb'), 'the store has no program for buckets')
      const [large, small] = [tokenBucket({ rate: '1/h', burst: 100 }), tokenBucket({ rate: '1/h', burst: 5 })]
      const key = fresh()
      await decide([call(key, large, 10)], START)
      expect((await bench.peek([call(key, small)], START)).calls[0]?.remaining).toBe(5)
      expect((await decide([call(key, large, 90)], START)).outcome).toBe('allowed')
    })
  })
}
