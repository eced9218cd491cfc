import { LineCounter } from 'yaml'
import { type Form, requireForm } from '../../errors/options.ts'
import { positionIn } from './document.ts'
import { createIssues } from './issues.ts'

/** Largest policy, in UTF-16 units. */
export const MAX_POLICY_LENGTH = 262_144

const BYTES: Form = [(value) => value instanceof Uint8Array, 'a Uint8Array']

/** The offset of the first byte that is not valid UTF-8; undefined if there is none. @throws LimiterError INVALID_OPTIONS */
export function firstWrongByte(bytes: Uint8Array): number | undefined {
  requireForm('firstWrongByte', 'bytes', bytes, BYTES)
  for (let at = 0; at < bytes.length;) {
    const length = lengthOf(bytes, at)
    if (length === 0) return at
    at += length
  }
  return undefined
}

/** The length in bytes of the character that begins there (RFC 3629, section 4); 0 if none does. */
function lengthOf(bytes: Uint8Array, at: number): number {
  const [first = 0, second = 0] = [bytes[at], bytes[at + 1]]
  if (first < 0x80) return 1
  const length = first < 0xc2 || first > 0xf4 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4
  // No overlong form, no surrogate, nothing above U+10FFFF.
  const low = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80
  const high = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf
  if (length === 0 || second < low || second > high) return 0
  for (let next = 2; next < length; next += 1) if (((bytes[at + next] ?? 0) & 0xc0) !== 0x80) return 0
  return length
}

/**
 * Decodes a policy's bytes; a byte order mark is kept.
 * @param filename the name in the message
 * @throws PolicyError with line and column of the first byte that is not UTF-8
 */
export function policyText(bytes: Uint8Array, filename: string): string {
  const wrong = firstWrongByte(bytes)
  const before = new TextDecoder('utf-8', { ignoreBOM: true }).decode(wrong === undefined ? bytes : bytes.subarray(0, wrong))
  if (wrong === undefined) return before
  const lines = new LineCounter()
  for (let start = 0; start !== -1 && lines.lineStarts.length <= MAX_POLICY_LENGTH;) {
    lines.addNewLine(start)
    const end = before.indexOf('\n', start)
    start = end === -1 ? -1 : end + 1
  }
  const issues = createIssues(filename, positionIn(lines))
  issues.add(before.length, '', `byte 0x${(bytes[wrong] as number).toString(16)} is not UTF-8: expected a text in UTF-8`, {
    allowed: 'UTF-8',
  })
  issues.settle()
  return before
}
