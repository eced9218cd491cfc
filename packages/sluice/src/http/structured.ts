/** Largest Integer of a structured field (RFC 9651, 3.3.1). */
const MAX_SF_INTEGER = 999_999_999_999_999

/** Converts a number to an Integer of RFC 9651, 3.3.1: whole, never negative, 0 for NaN. */
export function sfNumber(value: number): number {
  return value >= 0 ? Math.min(MAX_SF_INTEGER, Math.floor(value)) : 0
}

export function sfInteger(value: number): string {
  return String(sfNumber(value))
}

/** A String of RFC 9651, 3.3.3: printable ASCII between quotes, with `"` and `\` escaped; other characters percent-encoded. */
export function sfString(text: string): string {
  const printable = text.replace(/[^\x20-\x7e]/gu, (character) =>
    /^[\ud800-\udfff]$/.test(character) ? '%EF%BF%BD' : encodeURIComponent(character),
  )
  return `"${printable.replace(/["\\]/g, '\\$&')}"`
}
