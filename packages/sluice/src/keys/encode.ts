import { LimiterError } from '../errors/limiter-error.ts'
import { shown } from '../errors/options.ts'
import { sha256 } from './sha256.ts'

/** Longer encoded keys are replaced by their digest, so that a state id stays small whatever a client sends. */
const MAX_KEY_LENGTH = 200

/**
 * Encodes text as a part of a state id: injective, printable ASCII, without characters that are special to a store (braces of a cluster
 * hash tag, globs, blanks, control characters). Each UTF-16 unit outside the safe set becomes %XXXX, so lone surrogates stay distinct.
 */
export function encodePart(text: string): string {
  return /^[\w.@+=,;~!/-]*$/.test(text) ? text : text.replace(/[^\w.@+=,;~!/-]/g, escape)
}

/** Encodes the last part of an id. It may contain colons, because nothing follows it. */
export function encodeKey(key: string): string {
  const encoded = /^[\w.@+=,;~!/:-]*$/.test(key) ? key : key.replace(/[^\w.@+=,;~!/:-]/g, escape)
  return encoded.length <= MAX_KEY_LENGTH ? encoded : `#${sha256(encoded)}`
}

/** A key of several values, injective: ("a", "b:c") and ("a:b", "c") differ, and an absent value differs from an empty one. */
export function composeKey(parts: readonly (string | undefined)[]): string {
  let key = ''
  for (let index = 0; index < parts.length; index += 1) {
    const part = parts[index]
    if (index > 0) key += ':'
    key += part === undefined ? '-' : `=${encodePart(part)}`
  }
  return key
}

/** The escapes of the ASCII characters, computed in advance because most keys need no others. */
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

/** Scope and key as one text: injective, printable ASCII, of bounded length for any key. */
export function stateName(id: { readonly scope: { readonly text: string }; readonly key: string }): string {
  return id.scope.text + encodeKey(id.key)
}

/** @throws LimiterError INVALID_KEY unless the key is a non-empty text */
export function validKey(where: string, key: unknown): string {
  if (typeof key === 'string' && key !== '') return key
  throw new LimiterError('INVALID_KEY', `${where}: key is ${shown(key)}, expected a non-empty string`)
}
