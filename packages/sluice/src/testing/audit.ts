import type { AnyLimit } from '../algorithms/algorithm.ts'
import { type Form, LIMIT, requireForm } from '../errors/options.ts'
import { MICRO, microCost } from '../algorithms/decimal.ts'
import type { Micros } from '../time/micros.ts'

/** A call as observed. */
export interface TraceEntry {
  /** Store time, microseconds since 1970. */
  readonly at: Micros
  /** Tokens; above 0, at most six decimals. */
  readonly cost: number
  /** Only calls that passed count. */
  readonly allowed: boolean
}

/** The interval in which a trace exceeded its limit most. */
export interface Audit {
  /** Tokens admitted in the worst interval above burst + rate * its length; 0 if no interval has more. */
  readonly overGrant: number
  /** `overGrant` in percent of `permitted`. */
  readonly overGrantPercent: number
  /** Start of the interval with the largest excess; without an excess, with the smallest margin. */
  readonly from: Micros
  /** Microseconds since 1970. */
  readonly to: Micros
  /** Tokens admitted in the interval. */
  readonly admitted: number
  /** burst + rate * length of the interval, in tokens. */
  readonly permitted: number
}

const TRACE: Form = [(value) => Array.isArray(value) && value.every(isEntry), 'a list of { at: whole microseconds, cost, allowed }']

function isEntry(value: Partial<TraceEntry> | null | undefined): boolean {
  return Number.isSafeInteger(value?.at) && typeof value?.allowed === 'boolean'
}

/**
 * Finds the largest over-grant over every interval of a trace, in exact integers. The order of the entries does not matter.
 * @throws LimiterError INVALID_OPTIONS for an invalid trace or limit; INVALID_COST for an invalid cost of an admitted entry
 */
export function audit(trace: readonly TraceEntry[], limit: AnyLimit): Audit {
  requireForm('audit', 'trace', trace, TRACE)
  requireForm('audit', 'limit', limit, LIMIT)
  const { n, m, burst } = limit.algorithm.envelope(limit.plan)
  const [rate, per] = [BigInt(n), BigInt(m)]
  const admitted = trace.filter((entry) => entry.allowed).sort((a, b) => a.at - b.at)
  let sum = 0n
  let start = { value: 0n, at: admitted[0]?.at ?? 0, before: 0n }
  let worst = { value: -BigInt(burst) * per, from: 0, to: 0, taken: 0n }
  for (const { at, cost } of admitted) {
    // All amounts are multiplied by m of the rate n / m, to stay integers.
    const here = rate * BigInt(at) - sum * per
    if (sum === 0n || here > start.value) start = { value: here, at, before: sum }
    sum += BigInt(microCost(cost))
    const value = sum * per - rate * BigInt(at) + start.value - BigInt(burst) * per
    if (value > worst.value) worst = { value, from: start.at, to: at, taken: sum - start.before }
  }
  const permitted = burst + (n * (worst.to - worst.from)) / m
  const overGrant = worst.value > 0n ? Number(worst.value) / m / MICRO : 0
  return {
    overGrant,
    overGrantPercent: (overGrant / (permitted / MICRO)) * 100,
    from: worst.from,
    to: worst.to,
    admitted: Number(worst.taken) / MICRO,
    permitted: permitted / MICRO,
  }
}
