import type { Micros } from '../../time/micros.ts'
import { close } from './era.ts'
import { type Gone, isGone, newest, type Roster } from './roster.ts'
import type { RegionStore } from './state.ts'

/**
 * Ends the era like `close`, without waiting for runs (lives of stores) that a person has declared gone.
 * @returns undefined if the store is learning (just started), or not in the roster: it may then not know the latest run of a region
 */
export function adopt(store: RegionStore, weights: Roster['weights'], gone: readonly Gone[], now: Micros): RegionStore | undefined {
  const { phase, roster, next } = store
  if (phase === 'learning' || !roster.weights.has(store.region)) return undefined
  const last = newest([roster, next ?? roster])
  const earlier = (last.gone ?? []).filter(([region, run]) => !isGone({ ...last, gone }, region, run))
  return close(store, { version: last.version + 1, weights, gone: [...earlier, ...gone] }, now)
}
