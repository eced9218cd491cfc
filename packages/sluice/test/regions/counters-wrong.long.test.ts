import { describe, expect, it } from 'vitest'
import { countersHistoryOf, runCounters } from './counters-history.ts'
import { countersProblem } from './counters-many.ts'
import { NOTICED_BY_HAND, WRONG_COUNTERS } from './counters-wrong.ts'
import { countersVariantOf } from './variants.ts'

const COUNT = 1_500

describe('counters of regions: wrong programs in random histories', () => {
  it.each(Object.entries(WRONG_COUNTERS).filter(([name]) => !NOTICED_BY_HAND.includes(name)))(
    'the audits notice that %s',
    async (_, replacements) => {
      const wrong = await countersVariantOf(replacements)
      let noticed = false
      for (let seed = 1; seed <= COUNT && !noticed; seed += 1)
        noticed = countersProblem(runCounters(wrong, countersHistoryOf(seed))) !== undefined
      expect(noticed).toBe(true)
    },
    120_000,
  )
})
