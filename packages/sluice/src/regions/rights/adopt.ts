import type { Micros } from '../../time/micros.ts'
import { close } from './era.ts'
import { type Gone, isGone, newest, type Roster } from './roster.ts'
import type { RegionStore } from './state.ts'

/**
 * Closes the era with a next roster (regions and weights) that declares runs (lives of stores) gone. The next era then begins without
 * waiting for them.
 * @returns undefined if this store may not know every region's latest run: it just started (`learning`), or its region is not in the roster
 */
export function adopt(store: RegionStore, weights: Roster['weights'], gone: readonly Gone[], now: Micros): RegionStore | undefined {
  const { phase, roster, next } = store
  if (phase === 'learning' || !roster.weights.has(store.region)) return undefined
  const last = newest([roster, next ?? roster])
  const earlier = (last.gone ?? []).filter(([region, run]) => !isGone({ ...last, gone }, region, run))
  return close(store, { version: last.version + 1, weights, gone: [...earlier, ...gone] }, now)
}
