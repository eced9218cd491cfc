import { toMicroTokens } from '../../algorithms/decimal.ts'
import type { Rate } from '../../algorithms/rate.ts'
import { DECIMAL_FORM, type PolicyNode, type Value } from '../document/value.ts'

/** Undefined if missing or wrong; a wrong value is reported. */
export function readPositive(value: Value | undefined): string | undefined {
  return value?.as(DECIMAL_FORM, decimalOf)
}

const RATE_FORM = 'a number above 0; more than six decimals are kept where the burst allows, else rounded down'

export interface PerSecond {
  /** The most exact first; `text` is in tokens per second. */
  readonly forms: readonly { readonly rate: Rate; readonly text: string }[]
  readonly value: number
}

/**
 * A rate that was computed as a quotient becomes the exact fraction: 0.3333333333333333 is 1 in 3 s. Other long decimals become exact over
 * a longer period: 0.0166667 is 0.166667 in 10 s.
 */
export function readPerSecond(field: Value | undefined): PerSecond | undefined {
  return field?.as(RATE_FORM, (node) => {
    const text = decimalOf(node)
    if (text !== undefined) return { forms: [{ rate: { tokens: text, per: '1s' }, text }], value: Number(text) }
    const value = numberOf(node)
    const forms = value === undefined ? [] : formsOf(value)
    return value === undefined || forms.length === 0 ? undefined : { forms, value }
  })
}

function formsOf(value: number): PerSecond['forms'] {
  const seconds = divisorOf(value)
  if (seconds === undefined) return longerPeriods(value)
  return [{ rate: { tokens: Math.round(value * seconds), per: `${seconds}s` }, text: String(value) }]
}

/** The first form has all decimal places, as tokens per 10 s, 100 s or longer. */
function longerPeriods(value: number): PerSecond['forms'] {
  const [whole = '', decimals = ''] = decimalText(value).split('.')
  const forms: PerSecond['forms'][number][] = []
  for (let more = Math.max(0, decimals.length - 6); more >= 0; more -= 1) {
    const tokens = `${whole}${decimals.slice(0, more)}.${decimals.slice(more, more + 6)}`.replace(/^0+(?=\d)/, '')
    if ((toMicroTokens(tokens) ?? 0) > 0)
      forms.push({ rate: { tokens, per: `${10 ** more}s` }, text: `${whole}.${decimals.slice(0, more + 6)}` })
  }
  return forms
}

function decimalText(value: number): string {
  const [digits = '', exponent] = String(value).split('e-')
  return exponent === undefined ? digits : `0.${'0'.repeat(Number(exponent) - 1)}${digits.replace('.', '')}`
}

const MAX_PERIOD = 86_400

/**
 * The number of seconds, at most `MAX_PERIOD`, in which `value` tokens per second are a whole number of tokens. Tries the denominators of
 * the continued fraction of `value`.
 */
function divisorOf(value: number): number | undefined {
  let [before, seconds, rest] = [0, 1, value]
  while (seconds <= MAX_PERIOD) {
    const tokens = Math.round(value * seconds)
    if (tokens > 0 && tokens / seconds === value) return seconds
    rest = 1 / (rest - Math.floor(rest))
    const next: number = Math.floor(rest) * seconds + before
    before = seconds
    seconds = next
  }
  return undefined
}

function decimalOf(node: PolicyNode): string | undefined {
  const value = numberOf(node)
  if (value === undefined) return undefined
  const text = node.kind === 'scalar' && toMicroTokens(node.text) !== undefined ? node.text : String(value)
  return (toMicroTokens(text) ?? 0) > 0 ? text : undefined
}

function numberOf(node: PolicyNode): number | undefined {
  if (node.kind !== 'scalar' || node.type !== 'number' || !/^\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(node.text)) return undefined
  const value = Number(node.text)
  return value > 0 && Number.isFinite(value) ? value : undefined
}
