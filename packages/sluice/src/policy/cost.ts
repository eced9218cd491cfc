import { fromMicroTokens, toMicroTokens } from '../algorithms/decimal.ts'
import { valuesOf } from '../identity/source.ts'
import type { Cost } from './rule.ts'

/** The same for every request. */
export function fixedCost(cost: number): Cost {
  return { text: String(cost), of: () => cost, unknown: cost, most: cost }
}

export interface ClientCost {
  readonly kind: 'header' | 'query'
  readonly name: string
  readonly fallback: number
  readonly min: number
  readonly max: number
}

/** More than any bucket can hold, and still exact. */
export const DEAREST: number = Math.floor(Number.MAX_SAFE_INTEGER / 1_000_000)

/**
 * What the client says, between `min` and `max`; the fallback where it says nothing or no decimal of at most six places. Of
 * several values the dearest counts, since nobody knows which of them the backend reads.
 */
export function clientCost({ kind, name, fallback, min, max }: ClientCost): Cost {
  const clamp = (cost: number): number => Math.min(max, Math.max(min, cost))
  return {
    text: `${kind}:${name}`,
    unknown: clamp(fallback),
    most: max,
    of: (request) => {
      const values = valuesOf(kind, name, request)
      return clamp(values.length === 0 ? fallback : values.reduce((dearest, text) => Math.max(dearest, readCost(text) ?? fallback), 0))
    },
  }
}

/** A decimal without sign, exponent, blanks or other bases; one too long to be exact is the dearest. */
export function readCost(text: string): number | undefined {
  if (!/^\d+(?:\.\d{1,6})?$/.test(text)) return undefined
  const micro = toMicroTokens(text)
  return micro === undefined ? DEAREST : fromMicroTokens(micro)
}
