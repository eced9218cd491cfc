import { requireForm, TEXT } from '../errors/options.ts'

/**
 * The canonical path of a request target, so that no other spelling of it escapes a rule. It drops query and fragment, and reduces the
 * absolute form to its path. It decodes unreserved characters and encodes others in upper case. It reads `\` as `/`, collapses repeated
 * slashes, resolves dot segments, and removes a trailing slash. Letters keep their case. Idempotent; never fails for a text.
 * @throws LimiterError INVALID_OPTIONS unless the target is a text
 */
export function normalizePath(target: string): string {
  requireForm('normalizePath', 'target', target, TEXT)
  if (target === '*') return target
  const plain = withoutQuery(target).replaceAll('\\', '/')
  const kept: string[] = []
  for (const segment of encodePath(withoutAuthority(plain)).split('/')) {
    if (segment === '..') kept.pop()
    else if (segment !== '' && segment !== '.') kept.push(segment)
  }
  return `/${kept.join('/')}`
}

/** As `normalizePath`, but keeps a trailing slash, for policies that distinguish `/a` from `/a/`. */
export function normalizePathExactly(target: string): string {
  const path = normalizePath(target)
  return path !== '/' && /[/\\](?:\.|%2e){0,2}$/i.test(withoutQuery(target)) ? `${path}/` : path
}

/** The query of a request target, without its question mark; empty if there is none. */
export function queryOf(target: string): string {
  const start = target.indexOf('?')
  const fragment = target.indexOf('#')
  if (start === -1 || (fragment !== -1 && fragment < start)) return ''
  return target.slice(start + 1, fragment === -1 ? undefined : fragment)
}

function withoutQuery(target: string): string {
  const end = target.search(/[?#]/)
  return end === -1 ? target : target.slice(0, end)
}

/** Removes scheme and authority. Only a target with a scheme has an authority: a leading `//` is an empty segment, not a host. */
export function withoutAuthority(path: string): string {
  const absolute = /^[a-z][a-z\d+.-]*:[/\\]{2}[^/\\]*/i.exec(path)
  return absolute === null ? path : path.slice(absolute[0].length)
}

/** Decodes escaped unreserved characters; encodes others outside printable ASCII, and a bare `%`. Hex in upper case. Idempotent. */
export function encodePath(path: string): string {
  return path.replace(/%([\da-f]{2})|%|[^!-~]+/gi, (found, hex: string | undefined) => {
    if (hex !== undefined) {
      const character = String.fromCharCode(Number.parseInt(hex, 16))
      return /[\w.~-]/.test(character) ? character : `%${hex.toUpperCase()}`
    }
    // A percent sign that encodes nothing is encoded itself; otherwise decoding again would find something new.
    return found === '%' ? '%25' : encodeURIComponent(wellFormed(found))
  })
}

function wellFormed(text: string): string {
  return text.replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, '\ufffd')
}

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
