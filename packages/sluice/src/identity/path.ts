import { requireForm, TEXT } from '../errors/options.ts'

/**
 * The canonical path of a request target, so that no spelling escapes a rule. Query, fragment, scheme, authority and a trailing slash are
 * dropped; slashes, dot segments and escapes are normalised. A second call changes nothing.
 * @throws LimiterError INVALID_OPTIONS unless the target is a text
 */
export function normalizePath(target: string): string {
  requireForm('normalizePath', 'target', target, TEXT)
  return target === '*' ? target : canonical(target, encodePath)
}

/** `*` stays a wildcard, and `%2A` is the character. */
export function normalizePattern(pattern: string): string {
  return canonical(pattern, (path) => path.split('*').map(encodePath).join('*'))
}

function canonical(target: string, encode: (path: string) => string): string {
  const plain = withoutQuery(target).replaceAll('\\', '/')
  const kept: string[] = []
  for (const segment of encode(withoutAuthority(plain)).split('/')) {
    if (segment === '..') kept.pop()
    else if (segment !== '' && segment !== '.') kept.push(segment)
  }
  return `/${kept.join('/')}`
}

/** Policies may distinguish `/a` from `/a/`. */
export function normalizePathExactly(target: string): string {
  const path = normalizePath(target)
  return path !== '/' && /[/\\](?:\.|%2e){0,2}$/i.test(withoutQuery(target)) ? `${path}/` : path
}

/** Without the question mark; empty without a query. */
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

/** Undefined if the escapes are not UTF-8. */
export function decodeEscapes(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** Without a scheme, a leading `//` is an empty segment, not a host. */
export function withoutAuthority(path: string): string {
  const absolute = /^[a-z][a-z\d+.-]*:[/\\]{2}[^/\\]*/i.exec(path)
  return absolute === null ? path : path.slice(absolute[0].length)
}

/**
 * Decodes escapes of printable ASCII, because most upstreams read `%40` as `@`. Escapes of `#`, `/`, `;`, `?` and `\` stay, because these
 * characters separate parts of a target. `%25` stays, so that it does not become part of another escape. `*` is encoded, because a
 * pattern's `*` is a wildcard. A second call changes nothing.
 */
export function encodePath(path: string): string {
  return path.replace(/%([\da-f]{2})|[%*]|[^!-~]+/gi, (found, hex: string | undefined) => {
    if (hex !== undefined) {
      const character = String.fromCharCode(Number.parseInt(hex, 16))
      return /[!-~]/.test(character) && !'#%*/;?\\'.includes(character) ? character : `%${hex.toUpperCase()}`
    }
    if (found === '*') return '%2A'
    // Otherwise a second decoding could combine the percent sign with the characters after it.
    return found === '%' ? '%25' : encodeURIComponent(wellFormed(found))
  })
}

function wellFormed(text: string): string {
  return text.replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, '\ufffd')
}

const ID_SEGMENT = '{id}'

const DIGITS = /^\d+$/
const UUID = /^\{?[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}\}?$/
const HEX = /^(?:0x)?[\da-f]{8,}$/
/** A token, optionally with a type prefix (`cus_9s6xkzknriz8i3`). */
const TOKEN = /^(?:[a-z]{1,8}[_-])?[\da-z]{12,}$/

/**
 * Replaces segments that look like identifiers by `{id}`, so that one route has one key. Identifiers are digits, UUIDs, 8 or more
 * hexadecimal digits, and 12 or more letters and digits, each with a decimal digit. The path must be normalised and in lower case.
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
