import { LimiterError } from '../errors/limiter-error.ts'
import { shown } from '../errors/options.ts'
import { sha256 } from './sha256.ts'

/**
 * The most characters of an encoded key. A longer one is replaced by its digest, so that a state id stays short whatever a client sends.
 */
const MAX_KEY_LENGTH = 200

/**
 * Encodes a text as a part of a state id. The result is printable ASCII, without characters that are special to a store (braces of a
 * cluster hash tag, globs, blanks, control characters). No two texts have the same result: each UTF-16 unit outside the safe set becomes
 * %XXXX, also lone surrogates.
 */
export function encodePart(text: string): string {
  return /^[\w.@+=,;~!/-]*$/.test(text) ? text : text.replace(/[^\w.@+=,;~!/-]/g, escape)
}

/** Encodes a key, the last part of a state id. It may contain colons, because no other part follows it. */
export function encodeKey(key: string): string {
  if (key !== lastKey) lastEncoded = encodedKey(key)
  lastKey = key
  return lastEncoded
}

/** The latest key and its encoding. Cached because the states of one call mostly have the same key. */
let [lastKey, lastEncoded] = ['', '']

function encodedKey(key: string): string {
  const encoded = escapeText(key)
  return encoded.length <= MAX_KEY_LENGTH ? encoded : `#${sha256(encoded)}`
}

/** Encodes a text like `encodeKey`, whatever its length. */
export function escapeText(text: string): string {
  return /^[\w.@+=,;~!/:-]*$/.test(text) ? text : text.replace(/[^\w.@+=,;~!/:-]/g, escape)
}

/** Decodes what `escapeText`, `encodePart` or `encodeKey` encoded. A digest by which `encodeKey` replaced a key cannot be decoded. */
export function unescapeText(encoded: string): string {
  return encoded.includes('%')
    ? encoded.replace(/%([\da-f]{4})/g, (_, digits: string) => String.fromCharCode(parseInt(digits, 16)))
    : encoded
}

/** Whether `encodeKey` has replaced the key by its digest. */
export function isDigest(encoded: string): boolean {
  return encoded.startsWith('#')
}

/**
 * Makes one key of several values. Different lists have different keys: ("a", "b:c") and ("a:b", "c") differ, and so do an absent value and
 * an empty one.
 */
export function composeKey(parts: readonly (string | undefined)[]): string {
  let key = ''
  for (let index = 0; index < parts.length; index += 1) {
    const part = parts[index]
    if (index > 0) key += ':'
    key += part === undefined ? '-' : `=${encodePart(part)}`
  }
  return key
}

/** The escapes of all ASCII characters, computed in advance because most keys need no others. */
const ESCAPED_ASCII = Array.from({ length: 128 }, (_, unit) => escaped(unit))

function escape(unit: string): string {
  const code = unit.charCodeAt(0)
  return ESCAPED_ASCII[code] ?? escaped(code)
}

function escaped(unit: number): string {
  return `%${unit.toString(16).padStart(4, '0')}`
}

/** The part of a state's id that all keys of one limit share: the names of limiter and limit, and the algorithm's tag. */
export function scopeOf(limiter: string, limit: string, tag: string): { readonly text: string } {
  return Object.freeze({ text: `${encodePart(limiter)}:${encodePart(limit)}:${tag}:` })
}

/** Scope and key of a state as one text. Different states have different names. A name is printable ASCII, and its length is bounded. */
export function stateName(id: { readonly scope: { readonly text: string }; readonly key: string }): string {
  return id.scope.text + encodeKey(id.key)
}

/** Returns the key if it is valid. @throws LimiterError INVALID_KEY unless the key is a non-empty text */
export function validKey(where: string, key: unknown): string {
  if (typeof key === 'string' && key !== '') return key
  throw new LimiterError('INVALID_KEY', `${where}: key is ${shown(key)}, expected a non-empty string`)
}
