import { describe, expect, it } from 'vitest'
import { createDigester } from '../../src/keys/digest.ts'
import { seeded } from '../../src/testing/random.ts'
import { absorbed, finished, keyed } from './half-sip-hash.ts'

function digests(seed: number) {
  const digester = createDigester(seeded(seed))
  return (scope: string, key: string): string => {
    digester.digest(digester.seed(scope), key)
    return `${digester.lo}:${digester.hi}`
  }
}

describe('digests of keys', () => {
  it('separate keys and scopes that look alike', () => {
    const digest = digests(1)
    const keys = [
      '',
      'a',
      'aa',
      'b',
      'ab',
      'ba',
      'a\0',
      '\0',
      '\0\0',
      '\0a',
      'é',
      'e\u0301',
      '\ud800',
      '\udc00',
      'x'.repeat(100),
      'x'.repeat(101),
    ]
    const all = ['s:', 't:', ''].flatMap((scope) => keys.map((key) => digest(scope, key)))
    expect(new Set(all).size).toBe(all.length)
  })

  it('are HalfSipHash-1-3 of the key under the scope', () => {
    const parts = [0.1, 0.7]
    const digester = createDigester(() => parts.shift() as number)
    const start = keyed(Math.floor(0.1 * 2 ** 32), Math.floor(0.7 * 2 ** 32))
    for (const scope of ['', 's:', 'policy:rule:tb:']) {
      const seed = digester.seed(scope)
      for (const key of ['', 'a', 'ab', 'user:42', 'é\ud800', '\uffff\uffff\uffff', 'x'.repeat(70_000)]) {
        digester.digest(seed, key)
        expect([digester.lo, digester.hi]).toEqual(finished(absorbed(absorbed(start, scope), key)))
      }
    }
  })

  it('are the same for the same key, and others in another process', () => {
    expect(digests(1)('s:', 'key')).toBe(digests(1)('s:', 'key'))
    expect(digests(1)('s:', 'key')).not.toBe(digests(2)('s:', 'key'))
  })

  it('do not meet in 200,000 keys that count up, in either half more often than chance', () => {
    const digester = createDigester(seeded(3))
    const seed = digester.seed('scope:')
    const [whole, low, high] = [new Set<string>(), new Set<number>(), new Set<number>()]
    for (let index = 0; index < 200_000; index += 1) {
      digester.digest(seed, `user:${index}`)
      whole.add(`${digester.lo}:${digester.hi}`)
      low.add(digester.lo)
      high.add(digester.hi)
    }
    expect(whole.size).toBe(200_000)
    // For 200,000 keys, n^2 / 2^33 collisions of 32 bits are expected, which is about 4.7. Twenty would not be chance.
    expect(200_000 - low.size).toBeLessThan(20)
    expect(200_000 - high.size).toBeLessThan(20)
  })

  it('change half of their bits when one bit of the key does', () => {
    const digester = createDigester(seeded(4))
    const seed = digester.seed('scope:')
    let changed = 0
    const ones = (word: number): number => word.toString(2).replaceAll('0', '').length
    for (let index = 0; index < 2_000; index += 1) {
      digester.digest(seed, `k${index}${String.fromCharCode(64)}`)
      const { lo, hi } = digester
      digester.digest(seed, `k${index}${String.fromCharCode(64 ^ (1 << (index % 6)))}`)
      changed += ones((lo ^ digester.lo) >>> 0) + ones((hi ^ digester.hi) >>> 0)
    }
    expect(changed / 2_000).toBeGreaterThan(31)
    expect(changed / 2_000).toBeLessThan(33)
  })
})
