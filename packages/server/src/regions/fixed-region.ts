import type { Store } from 'sluice'
import { regionalStore } from 'sluice/regions'
import type { RegionOptions } from './options.ts'
import type { Region } from './region.ts'
import { weightMetrics } from './region-metrics.ts'

/**
 * Each region keeps its part of every limit for good; regions do not call each other.
 * @throws LimiterError INVALID_OPTIONS for a region without a weight, because it would deny every call
 */
export function openFixedRegion({ self, others, weights }: RegionOptions, inner: Store): Region {
  const store = regionalStore({ store: inner, self, ...(weights === undefined ? { peers: others } : { weights }) })
  return {
    store,
    metrics: weightMetrics(() => store.weights),
    status: () => ({ self, mode: 'fixed', weights: store.weights, peers: {} }),
    readKeys() {},
    async close() {},
  }
}
