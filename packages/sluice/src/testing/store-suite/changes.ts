import { describe, it } from 'vitest'
import { tokenBucket } from '../../algorithms/token-bucket.ts'
import { TENS, THREES } from '../limits.ts'
import { type Bench, START } from './bench.ts'

export function changesOf(bench: Bench): void {
  const { decide, adjust, call, fresh, tags } = bench

  describe('refunds and penalties', () => {
    it.each(tags)(
      'X7: a %s whose limit has changed keeps its charges when the first call under the new limit is an adjust',
      async (tag) => {
        if (!bench.can('adjust')) return
        const [ten, three] = [TENS[tag], THREES[tag]]
        for (const before of [ten, three]) {
          const after = before === ten ? three : ten
          for (const tokens of [0.5, 2, -0.5, -2, -100]) {
            const key = fresh()
            await decide([call(key, before, 3)], START)
            await adjust(call(key, after), tokens, START + 1_000)
            await decide([call(key, after)], START + 2_000)
            const spent = fresh()
            await decide([call(spent, before)], START)
            await adjust(call(spent, after), tokens, START + 60_000_000)
            // A shorter window drops the charge, and a longer one does not restore it.
            const ended = fresh()
            await decide([call(ended, before, 3)], START)
            await adjust(call(ended, after), tokens, START + 1_500_000)
          }
          const forgotten = fresh()
          await decide([call(forgotten, before, 3)], START)
          await decide([call(forgotten, after, 2), call(forgotten, after, 1)], START + 1_500_000)
          await bench.sameState(call(forgotten, after).id)
        }
      },
    )

    it('X7: a penalty ends at one burst of debt to the part of a microsecond, and leaves a deeper debt as it is', async (context) => {
      context.skip(!tags.includes('tb') || !bench.can('adjust'), 'the store has no adjust, or no program for buckets')
      // A micro-token refills in a third of a microsecond.
      const larger = tokenBucket({ rate: '3/s', burst: 2 })
      const smaller = tokenBucket({ rate: '3/s', burst: '1.999999' })
      const key = fresh()
      const change = (limit: typeof larger, tokens: number): Promise<void> => adjust(call(key, limit), tokens, START)
      await change(larger, -100)
      await change(larger, 0.000001)
      await change(larger, -0.000001)
      await change(smaller, -0.000001)
      await change(smaller, 0.000001)
      await change(smaller, -100)
      await change(larger, -100)
      await change(THREES.tb, -1)
      await change(tokenBucket({ rate: '7/s', burst: '0.5' }), -0.000001)
      await decide([call(key, THREES.tb)], START)
    })
  })
}
