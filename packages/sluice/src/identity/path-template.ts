/** The placeholder for a segment that identifies one of many things. */
const ID_SEGMENT = '{id}'

const DIGITS = /^\d+$/
const UUID = /^\{?[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}\}?$/
const HEX = /^(?:0x)?[\da-f]{8,}$/
/** A token, optionally with a type prefix (`cus_9s6xkzknriz8i3`). */
const TOKEN = /^(?:[a-z]{1,8}[_-])?[\da-z]{12,}$/

/**
 * Replaces each segment that looks like an identifier by `{id}`, in a normalised lower-case path, so that one route is one key. Identifiers
 * are digits, UUIDs, at least 8 hexadecimal digits with a decimal one among them, and at least 12 mixed letters and digits. Idempotent.
 * Other segments (names, slugs) stay. If clients choose such segments, name the route in `match` instead.
 */
export function pathTemplate(path: string): string {
  return path
    .split('/')
    .map((segment) => (isIdentifier(segment) ? ID_SEGMENT : segment))
    .join('/')
}

function isIdentifier(segment: string): boolean {
  if (!/\d/.test(segment)) return false
  return DIGITS.test(segment) || UUID.test(segment) || HEX.test(segment) || TOKEN.test(segment)
}
