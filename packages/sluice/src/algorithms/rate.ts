import { LimiterError } from '../errors/limiter-error.ts'
import { shown } from '../errors/options.ts'
import { bareProblem, DURATION_FORM, parsePeriod } from '../time/duration.ts'
import type { Micros } from '../time/micros.ts'
import { toMicroTokens } from './decimal.ts'

/** Such as `'10/s'`, `'100/min'` or `'10/30s'`, or the two numbers as an object. */
export type Rate =
  | string
  | {
      /** A number or its text, with at most six decimals. */
      readonly tokens: number | string
      /** The refill time: text such as `'30s'`, or milliseconds as a number from 1,000 on. */
      readonly per: string | number
    }

/** `micro` millionths of a token every `per` microseconds, not in lowest terms. */
export interface ExactRate {
  readonly micro: number
  readonly per: Micros
}

const RATE_FORM = `tokens with at most six decimals per duration, such as 10/s, 100/min, 0.5/s or 10/30s`

/** @throws LimiterError INVALID_RATE unless the tokens are above 0 with at most six decimals, and the period can be read */
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
