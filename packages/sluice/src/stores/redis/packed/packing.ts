import { checkOptions, type Form, TEXT, within } from '../../../errors/options.ts'
import { keyedDigester } from '../../../keys/digest.ts'
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
  const digest = digesting(k0, k1)
  return { hashOf: (key) => digest(key).low % hashes, memberOf: digest }
}

/** Digests of texts under a secret of two numbers below 2^32. */
export function digesting(k0: number, k1: number): (text: string) => Digest {
  const digester = keyedDigester(k0, k1)
  return (text) => {
    digester.digest(digester.start, text)
    return { high: digester.hi >>> 0, low: digester.lo >>> 0 }
  }
}
