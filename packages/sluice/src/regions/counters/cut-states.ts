import type { AnyLimit } from '../../algorithms/algorithm.ts'
import type { StateId } from '../../stores/store.ts'
import type { Micros } from '../../time/micros.ts'
import { partSince } from './debt.ts'
import type { RegionalLimits } from '../regional-limits.ts'

/**
 * The states that decide the calls of a region while it is cut off, that is, while it has not read some peer for `cutoffMs`. They are
 * separate from the keys' own states, and hold at most the region's part of each limit.
 */
export interface CutStates {
  idOf(id: StateId): StateId
  /**
   * The limit that decides calls of a region that has been cut off since an instant; undefined if the region has no part of the limit.
   * @param since store time at which the cut began; the same for all limits
   */
  limitOf(limit: AnyLimit, since: Micros): AnyLimit | undefined
}

/**
 * The prefix of the scopes of these states. It contains a blank, which scopes of limiters do not, so no limiter has a state of the same
 * name.
 */
const CUT = 'cut '

export function createCutStates(limits: Pick<RegionalLimits, 'partOf'>): CutStates {
  const scopes = new Map<string, StateId['scope']>()
  /** The region's parts of limits, by limit, made for the cut that began at `partsSince`. */
  let parts = new WeakMap<AnyLimit, AnyLimit>()
  let partsSince: Micros | undefined
  return {
    idOf({ scope, key }) {
      const cut = scopes.get(scope.text) ?? { text: `${CUT}${scope.text}` }
      scopes.set(scope.text, cut)
      return { scope: cut, key }
    },
    limitOf(limit, since) {
      if (since !== partsSince) parts = new WeakMap()
      partsSince = since
      const known = parts.get(limit)
      if (known !== undefined) return known
      const part = limits.partOf(limit)
      if (part === undefined) return undefined
      const made = partSince(part, since)
      parts.set(limit, made)
      return made
    },
  }
}
