import { fromMicroTokens, toMicroTokens } from '../../algorithms/decimal.ts'
import { valuesOf } from '../../identity/source.ts'
import type { Cost } from './rule.ts'

/** The same cost for every request. */
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
export const MAX_COST: number = Math.floor(Number.MAX_SAFE_INTEGER / 1_000_000)

/**
 * A cost that the client sends, clamped to `min` and `max`; the fallback without a value or for one that is not a plain decimal. Of
 * several values the highest counts, because the backend may read any of them.
 */
export function clientCost({ kind, name, fallback, min, max }: ClientCost): Cost {
  const clamp = (cost: number): number => Math.min(max, Math.max(min, cost))
  return {
    text: `${kind}:${name}`,
    unknown: clamp(fallback),
    most: max,
    of: (request) => clamp(dearestOf(valuesOf(kind, name, request), fallback, (text) => readCost(text) ?? fallback)),
  }
}

/** The highest of the costs that a client sends; a line joined by commas is several values. */
export function dearestOf(values: readonly string[], fallback: number, costOf: (text: string) => number): number {
  if (values.length === 0) return fallback
  let dearest = 0
  for (const value of values) {
    if (value.includes(',')) for (const part of value.split(',')) dearest = Math.max(dearest, costOf(part.trim()))
    else dearest = Math.max(dearest, costOf(value))
  }
  return dearest
}

/**
 * Parses a decimal without sign, exponent, blanks or other bases. It rounds more than six decimals up to six, so that nothing is lost. A
 * number too long to be exact gives the maximum.
 */
export function readCost(text: string): number | undefined {
  const [, whole, decimals = ''] = /^(\d+)(?:\.(\d+))?$/.exec(text) ?? []
  if (whole === undefined) return undefined
  const micro = toMicroTokens(`${whole}.${decimals.slice(0, 6) || '0'}`)
  if (micro === undefined) return MAX_COST
  return fromMicroTokens(/[1-9]/.test(decimals.slice(6)) ? micro + 1 : micro)
}
