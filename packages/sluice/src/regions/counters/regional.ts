import { LimiterError } from '../../errors/limiter-error.ts'
import type { Store } from '../../stores/store.ts'
import { systemTime } from '../../time/system.ts'
import { type Counters, createCounters, KEPT_MS } from './counters.ts'
import { countingStore, type DecidingStore } from './store.ts'
import { isRewriting } from '../rewriting-store.ts'
import { freshRun } from '../fresh-run.ts'
import type { RegionalStore } from '../regional.ts'
import { regionalLimits } from '../regional-limits.ts'

/**
 * Each region grants whole token buckets, and is charged later for what the others spent.
 * @throws LimiterError NOT_SUPPORTED for a store that is not in this process
 */
export function countedStore(
  store: Store,
  self: string,
  weights: ReadonlyMap<string, number>,
  maxCells: number,
  chosenMs: number | undefined,
): { readonly store: RegionalStore; readonly counters: Counters } {
  if (!isRewriting(store) || !store.capabilities.sync)
    throw new LimiterError(
      'NOT_SUPPORTED',
      `regionalStore: mode counters does not run over ${store.name} in this version, only over memoryStore; use mode escrow or fixed`,
    )
  const monotonic = (): number => systemTime.monotonic()
  const names = [...weights.keys()].filter((name) => name !== self)
  // Without peers there is nobody to read, so the region would be cut off for ever.
  const cutoffMs = names.length === 0 ? undefined : chosenMs
  const counters = createCounters(store, names, freshRun(), { maxCells, cutoffMs, monotonic, keptMs: KEPT_MS })
  const limits = regionalLimits(self, weights, false)
  // Without `cutoffMs` no region grants parts of token buckets, so they need not be divisible.
  const problemOf: typeof limits.problemOf = (limit) =>
    cutoffMs === undefined && limit.algorithm.tag === 'tb' ? undefined : limits.problemOf(limit)
  return {
    store: countingStore(store as DecidingStore, counters, self, weights, { ...limits, problemOf }),
    counters,
  }
}
