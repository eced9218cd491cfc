import type { AnyLimit } from '../../algorithms/algorithm.ts'
import type { StateId } from '../../stores/store.ts'
import type { Micros } from '../../time/micros.ts'
import { partSince } from './debt.ts'
import type { RegionalLimits } from '../regional-limits.ts'

/** What decides the calls of a region that is cut off: states of their own, which hold no more than its part. */
export interface CutStates {
  idOf(id: StateId): StateId
  /**
   * The limit of a region that has been cut off since then; undefined if it has no part of it.
   * @param since when the cut began, for all limits
   */
  limitOf(limit: AnyLimit, since: Micros): AnyLimit | undefined
}

/** As the store is called. Scopes have no blanks, so no limiter has states of this name. */
const CUT = 'cut '

export function createCutStates(limits: Pick<RegionalLimits, 'partOf'>): CutStates {
  const scopes = new Map<string, StateId['scope']>()
  /** Those of the latest cut. */
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
