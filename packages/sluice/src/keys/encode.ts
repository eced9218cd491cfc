import { LimiterError } from '../errors/limiter-error.ts'
import { shown } from '../errors/options.ts'
import { sha256 } from './sha256.ts'

/** Longer keys become digests, so that state ids stay short. */
const MAX_KEY_LENGTH = 200

/**
 * Printable ASCII without characters that are special to a store, such as braces, globs, blanks and the colon. No two texts have the same
 * result.
 */
export function encodePart(text: string): string {
  return /^[\w.@+=,;~!/-]*$/.test(text) ? text : text.replace(/[^\w.@+=,;~!/-]/g, escape)
}

/** No other part follows the key, so it may contain colons. */
export function encodeKey(key: string): string {
  if (key !== lastKey) lastEncoded = encodedKey(key)
  lastKey = key
  return lastEncoded
}

/** The states of one call mostly have the same key. */
let [lastKey, lastEncoded] = ['', '']

function encodedKey(key: string): string {
  const encoded = escapeText(key)
  return encoded.length <= MAX_KEY_LENGTH ? encoded : `#${sha256(encoded)}`
}

/** As `encodeKey`, whatever the length. */
export function escapeText(text: string): string {
  return /^[\w.@+=,;~!/:-]*$/.test(text) ? text : text.replace(/[^\w.@+=,;~!/:-]/g, escape)
}

/** Decodes all encodings here, except a digest that replaced a key. */
export function unescapeText(encoded: string): string {
  return encoded.includes('%')
    ? encoded.replace(/%([\da-f]{4})/g, (_, digits: string) => String.fromCharCode(parseInt(digits, 16)))
    : encoded
}

/** Whether `encodeKey` has replaced the key by its digest. */
export function isDigest(encoded: string): boolean {
  return encoded.startsWith('#')
}

/** ("a", "b:c") and ("a:b", "c") have different keys, and so do an absent value and an empty one. */
export function composeKey(parts: readonly (string | undefined)[]): string {
  let key = ''
  for (let index = 0; index < parts.length; index += 1) {
    const part = parts[index]
    if (index > 0) key += ':'
    key += part === undefined ? '-' : `=${encodePart(part)}`
  }
  return key
}

/** Computed in advance, because most keys need no other escapes. */
const ESCAPED_ASCII = Array.from({ length: 128 }, (_, unit) => escaped(unit))

function escape(unit: string): string {
  const code = unit.charCodeAt(0)
  return ESCAPED_ASCII[code] ?? escaped(code)
}

function escaped(unit: number): string {
  return `%${unit.toString(16).padStart(4, '0')}`
}

/** All keys of one limit share this part of their state ids. */
export function scopeOf(limiter: string, limit: string, tag: string): { readonly text: string } {
  return Object.freeze({ text: `${encodePart(limiter)}:${encodePart(limit)}:${tag}:` })
}

/** Different states have different names, in printable ASCII. */
export function stateName(id: { readonly scope: { readonly text: string }; readonly key: string }): string {
  return id.scope.text + encodeKey(id.key)
}

/** @throws LimiterError INVALID_KEY unless the key is a non-empty text */
export function validKey(where: string, key: unknown): string {
  if (typeof key === 'string' && key !== '') return key
  throw new LimiterError('INVALID_KEY', `${where}: key is ${shown(key)}, expected a non-empty string`)
}
