import { checkOptions, type Form, TEXT, within } from '../../../errors/options.ts'
import { encodePart } from '../../../keys/encode.ts'
import { sha256 } from '../../../keys/sha256.ts'

export interface PackingOptions {
  /**
   * States expected at once; default 100,000. The hashes stay small for up to twice as many; beyond it a state takes about three times
   * the memory.
   */
  readonly keys?: number
  /** The key of the digests; it must be the same in every process. Default: derived from the prefix, which anybody may guess. */
  readonly secret?: string
}

const MAX_KEYS = 2 ** 36
const FORMS: Readonly<Record<string, Form>> = {
  keys: [(value) => Number.isSafeInteger(value) && within(1, MAX_KEYS)[0](value), `a whole number from 1 to ${MAX_KEYS}`],
  secret: TEXT,
}

/** Where states are stored. */
export interface Packing {
  /** The number of the hash that holds all states of a key. */
  hashOf(key: string): number
  /** The two halves of a state's name in its hash. */
  memberOf(name: string): Digest
}

/** 64 bits, in two halves. */
export interface Digest {
  readonly high: number
  readonly low: number
}

/** Average members of a hash. Redis keeps up to 128 of them in one piece of memory (`hash-max-listpack-entries`). */
const PER_HASH = 64

/**
 * Spreads keys over hashes, and names their states in them, by a digest of 64 bits under a secret (HalfSipHash-1-3, Aumasson and
 * Bernstein). Two of k states share a digest, and therefore a state, with a probability of k^2 / 2^65: 1 in 37 million for a million.
 * @throws LimiterError INVALID_OPTIONS
 */
export function createPacking(prefix: string, packing: PackingOptions): Packing {
  checkOptions('redisStore: packing', packing, FORMS)
  const { keys = 100_000, secret = '' } = packing
  const hashes = Math.ceil(keys / PER_HASH)
  const digits = sha256(`${encodePart(prefix)} ${encodePart(secret)}`)
  const [k0, k1] = [Number.parseInt(digits.slice(0, 8), 16), Number.parseInt(digits.slice(8, 16), 16)]
  return { hashOf: (key) => digest(k0, k1, key).low % hashes, memberOf: (name) => digest(k0, k1, name) }
}

/** Two halves of 32 bits, from words of two units each. The last word holds the length, so that no text is a prefix of another. */
export function digest(k0: number, k1: number, text: string): Digest {
  const v = [k0, k1 ^ 0xee, 0x6c796765 ^ k0, 0x74656462 ^ k1]
  const { length } = text
  const even = length & ~1
  for (let at = 0; at <= even; at += 2) {
    const pair = text.charCodeAt(at) | (text.charCodeAt(at + 1) << 16)
    const word = at < even ? pair : (length << 16) | (length > even ? text.charCodeAt(even) : 0)
    v[3] = (v[3] as number) ^ word
    mix(v)
    v[0] = (v[0] as number) ^ word
  }
  v[2] = (v[2] as number) ^ 0xee
  const low = finish(v)
  v[1] = (v[1] as number) ^ 0xdd
  return { high: finish(v), low }
}

function finish(v: number[]): number {
  for (let round = 0; round < 3; round += 1) mix(v)
  return ((v[1] as number) ^ (v[3] as number)) >>> 0
}

function mix(v: number[]): void {
  let [v0, v1, v2, v3] = v as [number, number, number, number]
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
  v[0] = v0
  v[1] = v1
  v[2] = v2
  v[3] = v3
}
