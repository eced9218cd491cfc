import { windowOf } from '../../contestants/contestant.ts'
import { atomsOf } from './atom.ts'
import { inTurn, type MemoryContestant, unitByUnitSync } from './contestant.ts'

interface Filled {
  readonly at: number
  readonly tokens: number
}

/**
 * The token bucket of the article "Rate limiting in Clojure and Redis Lua". It demands that something is left after the request, so it
 * keeps its last token until a part of the next one has come. A refused request changes nothing.
 */
export const articleBucket: MemoryContestant = {
  name: 'bucket, as in the article',
  kind: 'baseline',
  open: (quotas) => {
    const limiters = quotas.map(({ burst, ...quota }) => {
      const lengthMs = windowOf({ ...quota, burst }) * 1_000
      const atomOf = atomsOf<Filled>(() => ({ at: Date.now(), tokens: burst }))
      return unitByUnitSync((key) => {
        const atom = atomOf(key)
        const now = Date.now()
        const [before, after] = atom.swap((bucket) => {
          // In single precision, as the article's `float`.
          const gained = Math.fround(burst * (now - bucket.at)) / lengthMs
          const left = bucket.tokens + gained - 1
          return left > 0 ? { at: now, tokens: Math.min(left, burst - 1) } : bucket
        })
        return before.at !== after.at || before.tokens !== after.tokens
      })
    })
    return { decide: inTurn(limiters) }
  },
}
