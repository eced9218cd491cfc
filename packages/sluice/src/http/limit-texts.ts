import type { LimitView } from '../decision/decision.ts'

/** The texts of a limit that are the same in every answer, built once. */
export interface LimitTexts {
  readonly name: string
  readonly limit: number
  readonly windowMs: number
  readonly unit: LimitView['unit']
  /** The capacity as text. */
  readonly capacity: string
  /** The limit's name as an item of a structured field: `"name"`. */
  readonly quoted: string
  /** The limit's item in RateLimit-Policy, with the name (`policy`) and without it (`quota`). */
  readonly policy: string
  readonly quota: string
}

/** The most limits whose texts are cached. Names come from configuration and are few, but every cache is bounded. */
const MAX_NAMES = 4_096

export function limitTexts(): (view: LimitView) => LimitTexts {
  const known = new Map<string, LimitTexts>()
  let last = write('', 0, 0, undefined)
  return ({ name, limit, windowMs, unit }) => {
    // The texts of the latest limit are compared first. Most limiters have one limit, so this usually avoids a map lookup.
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
  // Windows are whole seconds above 0. Slots (`unit`) have no window, because they do not come back with time.
  const quota = unit === undefined ? `${capacity};w=${Math.max(1, secondsOf(windowMs))}` : `${capacity};qu="${unit}"`
  return { name, limit, windowMs, unit, capacity, quoted, policy: `${quoted};q=${quota}`, quota }
}

/** Milliseconds as whole seconds, rounded up. */
export function secondsOf(ms: number): number {
  return sfNumber(Math.ceil(ms / 1_000))
}

/** Largest Integer of a structured field (RFC 9651, 3.3.1). */
const MAX_SF_INTEGER = 999_999_999_999_999

/** Converts a number to an Integer of RFC 9651, 3.3.1: whole, never negative, 0 for NaN. */
function sfNumber(value: number): number {
  return value >= 0 ? Math.min(MAX_SF_INTEGER, Math.floor(value)) : 0
}

export function sfInteger(value: number): string {
  return String(sfNumber(value))
}

/** A String of RFC 9651, 3.3.3: printable ASCII between quotes, with `"` and `\` escaped; other characters percent-encoded. */
function sfString(text: string): string {
  const printable = text.replace(/[^\x20-\x7e]/gu, (character) =>
    /^[\ud800-\udfff]$/.test(character) ? '%EF%BF%BD' : encodeURIComponent(character),
  )
  return `"${printable.replace(/["\\]/g, '\\$&')}"`
}
