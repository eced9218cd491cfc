import { type Glob, pathSegments } from '../model/glob.ts'
import { indexByPath } from '../model/path-index.ts'
import type { Cost } from '../model/rule.ts'
import type { Sliced } from '../model/sliced.ts'

export interface PricedPath {
  readonly path: Glob
  readonly cost: number
}

/** Costs by path: filled while a policy is read, and indexed before its first request. */
export interface Prices {
  add(price: PricedPath): void
  index(): Sliced<void>
  isEmpty(): boolean
  /** The prices of a request's path. */
  of(segments: readonly string[]): readonly PricedPath[]
  /** The highest price, or the fallback if that is higher. */
  most(fallback: number): number
}

export function priceList(): Prices {
  const prices: PricedPath[] = []
  let find: (segments: readonly string[]) => readonly PricedPath[] = () => prices
  return {
    add: (price) => void prices.push(price),
    *index() {
      find = yield* indexByPath(prices, ({ path }) => path)
    },
    isEmpty: () => prices.length === 0,
    of: (segments) => find(segments),
    most: (fallback) => prices.reduce((dearest, { cost }) => Math.max(dearest, cost), fallback),
  }
}

/**
 * The cost of a request at every level: that of its endpoint, or the fallback. Of several endpoints, and of several readings of its path,
 * the highest counts.
 */
export function endpointCost(prices: Prices, fallback: number = 1): Cost {
  const costOf = (path: string): number => {
    const matching = prices.of(pathSegments(path))
    return matching.length === 0 ? fallback : Math.max(...matching.map(({ cost }) => cost))
  }
  return {
    text: 'of the endpoint',
    unknown: fallback,
    get most() {
      return prices.most(fallback)
    },
    of(request) {
      if (prices.isEmpty()) return fallback
      const { path, readings } = request
      return readings === undefined ? costOf(path) : Math.max(...readings.map((reading) => costOf(reading.path)))
    },
  }
}
