import { windowOf } from '../../contestants/contestant.ts'
import { atomsOf } from './atom.ts'
import { inTurn, type MemoryContestant, unitByUnitSync } from './contestant.ts'

interface Counted {
  readonly window: number
  readonly hits: number
}

/**
 * The fixed windows of the article "Rate limiting in Clojure and Redis Lua": a count of the present window, up to the limit. A request
 * raises the count. If the count is at the limit it stays as it is, and the request is refused.
 */
export const articleWindow: MemoryContestant = {
  name: 'window, as in the article',
  kind: 'baseline',
  promise: 'window',
  open: (quotas) => {
    const limiters = quotas.map((quota) => {
      const lengthMs = windowOf(quota) * 1_000
      const atomOf = atomsOf<Counted>(() => ({ window: -1, hits: 0 }))
      return unitByUnitSync((key) => {
        const window = Math.floor(Date.now() / lengthMs)
        const [before, after] = atomOf(key).swap((counted) => ({
          window,
          hits: Math.min((counted.window === window ? counted.hits : 0) + 1, quota.burst),
        }))
        return before.window !== after.window || before.hits !== after.hits
      })
    })
    return { decide: inTurn(limiters) }
  },
}
