import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { composeKey, encodeKey, encodePart } from '../../src/keys/encode.ts'
import { sha256, shortDigest } from '../../src/keys/sha256.ts'
import { anyText } from '../any-text.ts'

const nasty = anyText({ maxLength: 12 })

describe('state ids', () => {
  it('are printable ASCII without braces, blanks or globs, whatever the user sends', () => {
    fc.assert(
      fc.property(nasty, (text) => void expect(encodeKey(text)).toMatch(/^[!-~]*$/)),
      { seed: 1 },
    )
    expect(encodeKey('{a}*?[b] \n\0')).not.toMatch(/[{}*?[\]\s\0]/)
  })

  it('never make two keys one', () => {
    const parts = fc.array(fc.option(nasty, { nil: undefined }), { minLength: 1, maxLength: 3 })
    fc.assert(
      fc.property(parts, parts, (a, b) => void expect(composeKey(a) === composeKey(b)).toBe(JSON.stringify(a) === JSON.stringify(b))),
      { seed: 2, numRuns: 2_000 },
    )
    expect(composeKey(['a', 'b:c'])).not.toBe(composeKey(['a:b', 'c']))
    expect(composeKey([''])).not.toBe(composeKey([undefined]))
    expect(encodePart(':')).not.toContain(':')
  })

  it('hash as node does', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme-ascii', maxLength: 300 }), (text) => {
        expect(sha256(text)).toBe(createHash('sha256').update(text).digest('hex'))
        expect(shortDigest(text)).toBe(createHash('sha256').update(text).digest('base64url').slice(0, 22))
      }),
      { seed: 3 },
    )
  })
})
