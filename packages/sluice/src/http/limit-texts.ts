import type { LimitView } from '../decision/decision.ts'

export interface LimitTexts {
  readonly name: string
  readonly limit: number
  readonly windowMs: number
  readonly unit: LimitView['unit']
  readonly capacity: string
  /** The limit's name as a String of RFC 9651: `"name"`. */
  readonly quoted: string
  /** The limit's item in RateLimit-Policy, with its name and without it. */
  readonly policy: string
  readonly quota: string
}

const MAX_NAMES = 4_096

export function limitTexts(): (view: LimitView) => LimitTexts {
  const known = new Map<string, LimitTexts>()
  let last = write('', 0, 0, undefined)
  return ({ name, limit, windowMs, unit }) => {
    // Most limiters have one limit, so this avoids a map lookup.
    if (last.name === name && last.limit === limit && last.windowMs === windowMs && last.unit === unit) return last
    const found = known.get(name)
    if (found !== undefined && found.limit === limit && found.windowMs === windowMs && found.unit === unit) return (last = found)
    if (known.size >= MAX_NAMES) known.clear()
    known.set(name, (last = write(name, limit, windowMs, unit)))
    return last
  }
}

function write(name: string, limit: number, windowMs: number, unit: LimitView['unit']): LimitTexts {
  const [capacity, quoted] = [sfInteger(limit), sfString(name)]
  // `w` must be a whole number above 0. Slots do not come back with time, so they have no window.
  const quota = unit === undefined ? `${capacity};w=${Math.max(1, secondsOf(windowMs))}` : `${capacity};qu="${unit}"`
  return { name, limit, windowMs, unit, capacity, quoted, policy: `${quoted};q=${quota}`, quota }
}

/** Rounds up. */
export function secondsOf(ms: number): number {
  return sfNumber(Math.ceil(ms / 1_000))
}

const MAX_SF_INTEGER = 999_999_999_999_999

/** The Integer of RFC 9651, 3.3.1; 0 for negative numbers and NaN. */
function sfNumber(value: number): number {
  return value >= 0 ? Math.min(MAX_SF_INTEGER, Math.floor(value)) : 0
}

export function sfInteger(value: number): string {
  return String(sfNumber(value))
}

/** A String of RFC 9651, 3.3.3. Characters that are not printable ASCII are percent-encoded. */
function sfString(text: string): string {
  const printable = text.replace(/[^\x20-\x7e]/gu, (character) =>
    /^[\ud800-\udfff]$/.test(character) ? '%EF%BF%BD' : encodeURIComponent(character),
  )
  return `"${printable.replace(/["\\]/g, '\\$&')}"`
}
