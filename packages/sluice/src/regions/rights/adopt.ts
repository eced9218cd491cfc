import type { Micros } from '../../time/micros.ts'
import { close } from './era.ts'
import { type Gone, isGone, newest, type Roster } from './roster.ts'
import type { RegionStore } from './state.ts'

/**
 * Ends the era like `close`, and names runs of regions for which no region waits. A run is one life of a store. A person has said that
 * these runs will never run again. A later run of such a region may start. It holds nothing until this store has bound it, which means that
 * this store has accepted it as the region's run. From then on this store waits for it.
 * @returns undefined if the store is learning, or not in the roster, because it may then not know the latest run of a region
 */
export function adopt(store: RegionStore, weights: Roster['weights'], gone: readonly Gone[], now: Micros): RegionStore | undefined {
  const { phase, roster, next } = store
  if (phase === 'learning' || !roster.weights.has(store.region)) return undefined
  const last = newest([roster, next ?? roster])
  const earlier = (last.gone ?? []).filter(([region, run]) => !isGone({ ...last, gone }, region, run))
  return close(store, { version: last.version + 1, weights, gone: [...earlier, ...gone] }, now)
}
