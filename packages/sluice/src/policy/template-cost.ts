import { type Glob, pathSegments } from './glob.ts'
import { indexByPath } from './path-index.ts'
import type { Cost } from './rule.ts'

export interface PricedPath {
  readonly path: Glob
  readonly cost: number
}

/**
 * What a request costs at every level: the cost of its endpoint, the dearest where several match, the fallback where none does.
 * @param prices filled while the policy is read, before the first request
 */
export function endpointCost(prices: readonly PricedPath[], fallback: number = 1): Cost {
  let candidates: ((segments: readonly string[]) => readonly PricedPath[]) | undefined
  return {
    text: 'of the endpoint',
    unknown: fallback,
    get most() {
      return Math.max(fallback, ...prices.map(({ cost }) => cost))
    },
    of(request) {
      candidates ??= indexByPath(prices, ({ path }) => path)
      const matching = candidates(pathSegments(request.path))
      return matching.length === 0 ? fallback : Math.max(...matching.map(({ cost }) => cost))
    },
  }
}
