import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { firstWrongByte, policyText } from '../../src/policy/document/policy-text.ts'
import { parsePolicy } from '../../src/policy/parse.ts'
import { PolicyError } from '../../src/policy/document/policy-error.ts'
import { draws } from '../draws.ts'

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
function isRefused(bytes: Uint8Array): boolean {
  try {
    strict.decode(bytes)
    return false
  } catch {
    return true
  }
}
/** Bytes that are nearly UTF-8. Lead bytes, continuation bytes and bytes at the edges of ranges are drawn more often than others. */
const byte = fc.oneof(
  fc.constantFrom(0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xed, 0xef, 0xf0, 0xf4, 0xf5, 0xff),
  fc.integer({ min: 0, max: 255 }),
)

describe('S3: bytes of a policy', () => {
  it('are wrong where a fatal decoder finds them so, and right up to the byte that is named', () => {
    const property = fc.property(fc.uint8Array({ maxLength: 8 }), fc.array(byte, { maxLength: 6 }), (some, more) => {
      for (const bytes of [some, Uint8Array.from(more)]) {
        const at = firstWrongByte(bytes)
        expect(at !== undefined).toBe(isRefused(bytes))
        if (at !== undefined) expect(isRefused(bytes.subarray(0, at))).toBe(false)
      }
    })
    fc.assert(property, { seed: 20261121, numRuns: draws(5_000, 600) })
  })

  it.each([
    [[0x61, 0xff], '1:2', 'ff'],
    [[0x61, 0x0a, 0xc3, 0xa9, 0x20, 0xc0, 0x80], '2:3', 'c0'],
    [[0x0a, 0x0a, 0xf0, 0x9f, 0x98], '3:1', 'f0'],
    [[0xef, 0xbb, 0xbf, 0xed, 0xa0, 0x80], '1:2', 'ed'],
  ])('%j is refused at %s', (bytes, place, hex) => {
    const act = (): unknown => parsePolicy(Uint8Array.from(bytes), { filename: 'p.yaml' })
    expect(act).toThrow(PolicyError)
    expect(act).toThrow(`p.yaml:${place}: byte 0x${hex} is not UTF-8: expected a text in UTF-8`)
  })

  it('are the text that they encode', () => {
    const text = 'version: 1\nrules:\n  - { name: a, key: ["header:x-a"], rate: 1/s, burst: 1 } # ünïque 😀\n'
    expect(policyText(new TextEncoder().encode(text), 'p.yaml')).toBe(text)
    expect(parsePolicy(new TextEncoder().encode(text)).hash).toBe(parsePolicy(text).hash)
    expect(parsePolicy(new TextEncoder().encode(`\ufeff${text}`)).rules[0]?.name).toBe('a')
    expect(() => parsePolicy(new Uint8Array())).toThrow('the policy is empty')
    expect(() => parsePolicy(new Uint8Array(300_000).fill(0x61))).toThrow('at most 262144 characters')
  })
})
