import { checkOptions, COUNT, type Form, TEXT } from '../../../errors/options.ts'
import { keyedDigester } from '../../../keys/digest.ts'
import { encodePart } from '../../../keys/encode.ts'
import { sha256 } from '../../../keys/sha256.ts'

/** Options of the packed layout (`layout: 'packed'`). */
export interface PackingOptions {
  /** How many states are expected at once; default 100,000. Above twice as many, each state takes about three times the memory. */
  readonly keys?: number | undefined
  /** The secret key of the digests, the same in every process. By default it is derived from the prefix alone, which others may guess. */
  readonly secret?: string | undefined
}

const MAX_KEYS = 2 ** 36
const FORMS: Readonly<Record<string, Form>> = {
  keys: [(value) => COUNT[0](value) && (value as number) <= MAX_KEYS, `a whole number from 1 to ${MAX_KEYS}`],
  secret: TEXT,
}

export interface Packing {
  /** All states of a key are in one hash. */
  hashOf(key: string): number
  /** A state's field in its hash: the digest of its name. */
  memberOf(name: string): Digest
}

/** 64 bits, as two halves of 32 bits. */
export interface Digest {
  readonly high: number
  readonly low: number
}

/** Average members of a hash. Redis keeps up to 128 of them in compact memory (`hash-max-listpack-entries`). */
const PER_HASH = 64

/**
 * Digests are HalfSipHash-1-3 (Aumasson and Bernstein) under a secret. Two names with one digest would be one state: for a million names,
 * the probability of this is 1 in 37 million.
 * @throws LimiterError INVALID_OPTIONS
 */
export function createPacking(prefix: string, packing: PackingOptions): Packing {
  checkOptions('redisStore: packing', packing, FORMS)
  const { keys = 100_000, secret = '' } = packing
  const hashes = Math.ceil(keys / PER_HASH)
  const digest = digesting(sha256(`${encodePart(prefix)} ${encodePart(secret)}`))
  return { hashOf: (key) => digest(key).low % hashes, memberOf: digest }
}

/** @param digits hexadecimal; the first sixteen are the secret */
export function digesting(digits: string): (text: string) => Digest {
  const digester = keyedDigester(Number.parseInt(digits.slice(0, 8), 16), Number.parseInt(digits.slice(8, 16), 16))
  return (text) => {
    digester.digest(digester.start, text)
    return { high: digester.hi >>> 0, low: digester.lo >>> 0 }
  }
}
