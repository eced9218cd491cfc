import type { AnyLimit } from '../../algorithms/algorithm.ts'
import type { StateId } from '../../stores/store.ts'
import type { Micros } from '../../time/micros.ts'
import { partSince } from './debt.ts'
import type { RegionalLimits } from '../regional-limits.ts'

/**
 * The states that decide a region's calls while it has not read some peer for `cutoffMs`. They hold at most the region's part of each
 * limit.
 */
export interface CutStates {
  idOf(id: StateId): StateId
  /**
   * Undefined if the region has no part of the limit.
   * @param since store time at which the region was cut off; the same for all limits
   */
  limitOf(limit: AnyLimit, since: Micros): AnyLimit | undefined
}

/** Scopes of limiters contain no blank, so names cannot collide. */
const CUT = 'cut '

export function createCutStates(limits: Pick<RegionalLimits, 'partOf'>): CutStates {
  const scopes = new Map<string, StateId['scope']>()
  /** Parts by limit, for the cutoff that began at `partsSince`. */
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
