import { LimiterError } from '../errors/limiter-error.ts'
import { shown } from '../errors/options.ts'
import { bareProblem, DURATION_FORM, parsePeriod } from '../time/duration.ts'
import type { Micros } from '../time/micros.ts'
import { toMicroTokens } from './decimal.ts'

/** `'10/s'`, `'100/min'`, `'10/30s'`, or tokens (at most six decimals) per duration (text, or milliseconds as a number from 1,000 on). */
export type Rate =
  | string
  | {
      /** How many tokens: a number or its text, with at most six decimals. */
      readonly tokens: number | string
      /** The time in which they are refilled: a text such as `'1s'` or `'30s'`, or milliseconds as a number from 1,000 on. */
      readonly per: string | number
    }

/** An exact fraction: `micro` millionths of a token every `per` microseconds, not in lowest terms. */
export interface ExactRate {
  readonly micro: number
  readonly per: Micros
}

const RATE_FORM = `tokens with at most six decimals per duration, such as 10/s, 100/min, 0.5/s or 10/30s`

/**
 * Parses a rate.
 * @throws LimiterError INVALID_RATE unless the tokens are above 0 with at most six decimals, and the period can be read
 */
export function parseRate(rate: Rate): ExactRate {
  const parts = typeof rate === 'string' ? split(rate) : (rate ?? undefined)
  const micro = parts === undefined ? undefined : toMicroTokens(parts.tokens)
  if (parts === undefined || micro === undefined || micro === 0) {
    throw new LimiterError('INVALID_RATE', `${shown(rate)} is not a rate: expected ${RATE_FORM}`)
  }
  try {
    return { micro, per: parsePeriod(parts.per) }
  } catch (cause) {
    const why = bareProblem(parts.per) ?? `its period must be ${DURATION_FORM}`
    throw new LimiterError('INVALID_RATE', `${shown(rate)} is not a rate: ${why}`, { cause })
  }
}

function split(text: string): { tokens: string; per: string } | undefined {
  const [tokens = '', per = '', ...rest] = text.split('/').map((part) => part.trim())
  return tokens === '' || per === '' || rest.length > 0 ? undefined : { tokens, per }
}
