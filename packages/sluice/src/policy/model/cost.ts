import { fromMicroTokens, MAX_COST, toMicroTokens } from '../../algorithms/decimal.ts'
import type { Request } from '../../identity/request.ts'
import { type Glob, pathSegments } from './glob.ts'
import { indexByPath } from './path-index.ts'
import type { Cost } from './rule.ts'
import type { Sliced } from './sliced.ts'

export function fixedCost(cost: number): Cost {
  return { text: String(cost), of: () => cost, unknown: cost, most: cost }
}

export interface ClientCost {
  readonly text: string
  values(request: Request): readonly string[]
  readonly fallback: number
  readonly min: number
  readonly max: number
  /** Undefined for a text that is not a cost. Default: `readCost`. */
  readonly costOf?: (text: string) => number | undefined
}

/** An invalid or absent cost is `fallback`. Of several values (repeated or comma-separated) the highest counts. */
export function clientCost({ text, values, fallback, min, max, costOf = readCost }: ClientCost): Cost {
  const clamp = (cost: number): number => Math.min(max, Math.max(min, cost))
  const unknown = clamp(fallback)
  const one = (value: string): number => clamp(costOf(value) ?? fallback)
  return {
    text,
    unknown,
    most: max,
    of(request) {
      let highest = 0
      for (const value of values(request)) {
        if (value.includes(',')) for (const part of value.split(',')) highest = Math.max(highest, one(part.trim()))
        else highest = Math.max(highest, one(value))
      }
      // 0: no value was found, because `min` is above 0.
      return highest === 0 ? unknown : highest
    },
  }
}

/** More than six decimals are rounded up. A number too long to be exact gives the maximum. */
export function readCost(text: string): number | undefined {
  const [, whole, decimals = ''] = /^(\d+)(?:\.(\d+))?$/.exec(text) ?? []
  if (whole === undefined) return undefined
  const micro = toMicroTokens(`${whole}.${decimals.slice(0, 6) || '0'}`)
  if (micro === undefined) return MAX_COST
  return fromMicroTokens(/[1-9]/.test(decimals.slice(6)) ? micro + 1 : micro)
}

interface PricedPath {
  readonly path: Glob
  readonly cost: number
}

/** Call `index` after the last `add` and before the first request. */
export interface EndpointCosts {
  /** The fallback without a matching pattern. The highest cost if several match, or if upstreams may read the path in several ways. */
  readonly cost: Cost
  add(price: PricedPath): void
  index(): Sliced<void>
}

export function endpointCosts(fallback: number = 1): EndpointCosts {
  const prices: PricedPath[] = []
  let most = fallback
  let find: (segments: readonly string[]) => readonly PricedPath[] = () => prices
  const costOf = (path: string): number => {
    const matching = find(pathSegments(path))
    return matching.length === 0 ? fallback : Math.max(...matching.map(({ cost }) => cost))
  }
  return {
    add(price) {
      prices.push(price)
      most = Math.max(most, price.cost)
    },
    *index() {
      find = yield* indexByPath(prices, ({ path }) => path)
    },
    cost: {
      text: 'of the endpoint',
      unknown: fallback,
      get most() {
        return most
      },
      of(request) {
        // Reading an unreadable path would refuse the request.
        if (prices.length === 0) return fallback
        const { path, readings } = request
        return readings === undefined ? costOf(path) : Math.max(...readings.map((reading) => costOf(reading.path)))
      },
    },
  }
}
