import { type Quota, windowOf } from '../../contestants/contestant.ts'
import { inTurnAwaited, type MemoryContestant, unitByUnit } from './contestant.ts'

/** The default store of a library that counts in windows. */
interface WindowStore {
  increment(key: string): { readonly totalHits: number } | Promise<{ readonly totalHits: number }>
  shutdown(): void
}

/** A store called as its middleware calls it: an awaited `increment`, whatever it returns, then the comparison with the limit. */
export function windowStore(name: string, open: (windowMs: number) => WindowStore): MemoryContestant {
  return {
    name,
    kind: 'peer',
    promise: 'window',
    awaited: true,
    open: (quotas) => {
      const stores = quotas.map((quota) => open(windowOf(quota) * 1_000))
      const counters = stores.map((store, index) =>
        unitByUnit(async (key) => {
          const { totalHits } = await store.increment(key)
          return totalHits <= (quotas[index] as Quota).burst
        }),
      )
      const close = (): void => {
        for (const store of stores) store.shutdown()
      }
      return { decide: inTurnAwaited(counters), close }
    },
  }
}
