/** What stands for a segment that names one thing among many. */
const ID_SEGMENT = '{id}'

const DIGITS = /^\d+$/
const UUID = /^\{?[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}\}?$/
const HEX = /^(?:0x)?[\da-f]{8,}$/
/** A token, perhaps behind the name of its kind (`cus_9s6xkzknriz8i3`). */
const TOKEN = /^(?:[a-z]{1,8}[_-])?[\da-z]{12,}$/

/**
 * A normalised path in lower case with each segment that looks like an identifier as `{id}`, so that one route is one key: digits,
 * UUIDs, at least 8 hexadecimal digits with a decimal one among them, and at least 12 letters and digits mixed. Idempotent. What is no
 * identifier by its looks (names, slugs) stays: where clients choose such segments, name the route in `match` instead.
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
