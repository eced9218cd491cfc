import { type ErrorCode, LimiterError } from '../errors/limiter-error.ts'
import { shown } from '../errors/options.ts'

/** One token in micro-tokens. Amounts have at most six decimals. */
export const MICRO = 1_000_000

/**
 * Converts tokens to micro-tokens exactly. Undefined if the value is negative, not finite, or has more than six decimals. A double within a
 * few rounding errors of a number with six decimals counts as that number: 0.1 + 0.2 is 0.3.
 */
export function toMicroTokens(value: number | string): number | undefined {
  if (typeof value === 'string') {
    const match = /^(\d{1,15})(?:\.(\d{1,6}))?$/.exec(value)
    if (match === null) return undefined
    const micro = Number(`${match[1]}${(match[2] ?? '').padEnd(6, '0')}`)
    return Number.isSafeInteger(micro) ? micro : undefined
  }
  if (typeof value !== 'number') return undefined
  // The sum turns -0 into 0.
  if (Number.isInteger(value)) return value >= 0 && Number.isSafeInteger(value * MICRO) ? value * MICRO + 0 : undefined
  if (!(value > 0)) return undefined
  const micro = Math.round(value * MICRO)
  const tolerance = Math.min(value * ROUNDINGS, MICRO_FRACTION)
  return Number.isSafeInteger(micro) && Math.abs(micro / MICRO - value) <= tolerance ? micro : undefined
}

/**
 * How far a double may be from a number with six decimals: relative (four to eight units in the last place) and absolute (a hundredth of a
 * micro-token). The smaller bound applies.
 */
const [ROUNDINGS, MICRO_FRACTION] = [2 ** -50, 1e-8]

/**
 * `most` is only named in the error message, not checked.
 * @throws LimiterError with `code` unless the tokens are above 0 and have at most six decimals
 */
export function readTokens(code: ErrorCode, value: number | string, problem: string, most: number, where = ''): number {
  const micro = toMicroTokens(value)
  if (micro !== undefined && micro > 0) return micro
  const expected = `expected tokens above 0 and at most ${most}, with at most six decimals`
  throw new LimiterError(code, `${where}${shown(value)} ${problem}: ${expected}`)
}

export function fromMicroTokens(micro: number): number {
  return micro / MICRO
}

/** @throws LimiterError INVALID_COST unless the cost is a number above 0 with at most six decimals */
export function microCost(cost: unknown): number {
  const micro = typeof cost === 'number' ? toMicroTokens(cost) : undefined
  if (micro !== undefined && micro > 0) return micro
  throw new LimiterError('INVALID_COST', `cost is ${shown(cost)}, expected a number above 0 ${COST_FORM}${hint(cost)}`)
}

/** The most tokens whose micro-tokens are a safe integer. */
export const MAX_COST: number = Math.floor(Number.MAX_SAFE_INTEGER / MICRO)
export const COST_FORM: string = `and at most ${MAX_COST} with at most six decimals`

function hint(cost: unknown): string {
  if (typeof cost === 'number' && cost > 0) return cost > MAX_COST ? '' : '; round what was computed: Number(cost.toFixed(6))'
  return ' (to read without charging, use peek)'
}
