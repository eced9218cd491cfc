/**
 * Digests of 64 bits under a secret (HalfSipHash-1-3, Aumasson and Bernstein), so that nobody outside can choose texts that collide. A
 * common beginning of texts (the scope) is hashed only once.
 */
export interface Digester {
  /** The seed for texts without a scope. */
  readonly start: Seed
  seed(scope: string): Seed
  /** Writes the digest to `lo` and `hi`. */
  digest(seed: Seed, text: string): void
  /** Two 32-bit halves of the last digest. */
  lo: number
  hi: number
}

/** Four words: the hash after the secret and the scope. */
export type Seed = Int32Array

/** @param random numbers in [0, 1) that an attacker cannot guess */
export function createDigester(random: () => number): Digester {
  const word = (): number => Math.floor(random() * 2 ** 32)
  return keyedDigester(word(), word())
}

/** The secret is two numbers below 2^32. */
export function keyedDigester(k0: number, k1: number): Digester {
  const start = Int32Array.of(k0, k1, 0x6c796765 ^ k0, 0x74656462 ^ k1)

  // One loop for text and final rounds keeps the state in local variables, which are fast.
  const absorb = (from: Seed, text: string, rounds: number): Seed | undefined => {
    let v0 = from[0] as number
    let v1 = (from[1] as number) ^ 0xee
    let v2 = from[2] as number
    let v3 = from[3] as number
    const { length } = text
    const even = length & ~1
    for (let index = 0; index <= even + rounds; index += 2) {
      // One more word has the text's length, so texts of different lengths have different words. The words of the final rounds are zeros.
      let m = 0
      if (index < even) m = text.charCodeAt(index) | (text.charCodeAt(index + 1) << 16)
      else if (index === even) m = (length << 16) | (length > even ? text.charCodeAt(even) : 0)
      else if (index === even + 2) v2 ^= 0xee
      else if (index === even + 8) {
        digester.lo = v1 ^ v3
        v1 ^= 0xdd
      }
      v3 ^= m
      v0 = (v0 + v1) | 0
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0
      v0 = (v0 << 16) | (v0 >>> 16)
      v2 = (v2 + v3) | 0
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2
      v0 = (v0 + v3) | 0
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0
      v2 = (v2 + v1) | 0
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2
      v2 = (v2 << 16) | (v2 >>> 16)
      v0 ^= m
    }
    if (rounds === 0) return Int32Array.of(v0, v1, v2, v3)
    digester.hi = v1 ^ v3
    return undefined
  }
  const digester: Digester = {
    start,
    lo: 0,
    hi: 0,
    seed: (scope) => absorb(start, scope, 0) as Seed,
    digest: (seed, text) => void absorb(seed, text, 12),
  }
  return digester
}
