import { type Form, requireForm } from '../../errors/options.ts'
import { PolicyError } from './policy-error.ts'

/** In UTF-16 units. */
export const MAX_POLICY_LENGTH = 262_144

const BYTES: Form = [(value) => value instanceof Uint8Array, 'a Uint8Array']

/** The offset of the first byte that is not UTF-8, or undefined. @throws LimiterError INVALID_OPTIONS */
export function firstWrongByte(bytes: Uint8Array): number | undefined {
  requireForm('firstWrongByte', 'bytes', bytes, BYTES)
  const text = decode(bytes)
  const encoder = new TextEncoder()
  let [at, from] = [0, 0]
  // An invalid byte sequence becomes U+FFFD. A U+FFFD of the text itself has these three bytes.
  for (let found = text.indexOf(REPLACED); found !== -1; found = text.indexOf(REPLACED, from)) {
    at += encoder.encode(text.slice(from, found)).length
    if (bytes[at] !== 0xef || bytes[at + 1] !== 0xbf || bytes[at + 2] !== 0xbd) return at
    at += 3
    from = found + 1
  }
  return undefined
}

const REPLACED = '\ufffd'

function decode(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
}

/**
 * Keeps a byte order mark.
 * @throws PolicyError with line and column of the first byte that is not UTF-8
 */
export function policyText(bytes: Uint8Array, filename: string): string {
  const wrong = firstWrongByte(bytes)
  if (wrong === undefined) return decode(bytes)
  const before = decode(bytes.subarray(0, wrong))
  let line = 1
  for (let end = before.indexOf('\n'); end !== -1; end = before.indexOf('\n', end + 1)) line += 1
  const message = `byte 0x${(bytes[wrong] as number).toString(16)} is not UTF-8: expected a text in UTF-8`
  const column = before.length - before.lastIndexOf('\n')
  throw new PolicyError([{ file: filename, line, column, path: '', allowed: 'UTF-8', message }])
}
