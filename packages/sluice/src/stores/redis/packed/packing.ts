import { checkOptions, COUNT, type Form, TEXT } from '../../../errors/options.ts'
import { keyedDigester } from '../../../keys/digest.ts'
import { encodePart } from '../../../keys/encode.ts'
import { sha256 } from '../../../keys/sha256.ts'

/** Options of the packed layout (`layout: 'packed'`). */
export interface PackingOptions {
  /**
   * How many states are expected at the same time; default 100,000. The hashes stay small up to twice as many states. With more, each state
   * needs about three times the memory.
   */
  readonly keys?: number
  /**
   * The secret key of the digests, which must be the same in every process. Default: derived from the prefix alone, which others may guess.
   */
  readonly secret?: string
}

const MAX_KEYS = 2 ** 36
const FORMS: Readonly<Record<string, Form>> = {
  keys: [(value) => COUNT[0](value) && (value as number) <= MAX_KEYS, `a whole number from 1 to ${MAX_KEYS}`],
  secret: TEXT,
}

/** Computes where a state is stored. */
export interface Packing {
  /** The number of the hash that holds all states of a key. */
  hashOf(key: string): number
  /** The digest of a state's name. It is the state's field in its hash. */
  memberOf(name: string): Digest
}

/** 64 bits, as two halves of 32 bits. */
export interface Digest {
  readonly high: number
  readonly low: number
}

/** How many members a hash has on average. Redis keeps up to 128 members in one compact piece of memory (`hash-max-listpack-entries`). */
const PER_HASH = 64

/**
 * Spreads keys over hashes, and names states within a hash, by a digest of 64 bits under a secret (HalfSipHash-1-3, Aumasson and
 * Bernstein). Two names with the same digest would be one state. Among k names the probability of this is about k^2 / 2^65: for a million
 * names, 1 in 37 million.
 * @throws LimiterError INVALID_OPTIONS
 */
export function createPacking(prefix: string, packing: PackingOptions): Packing {
  checkOptions('redisStore: packing', packing, FORMS)
  const { keys = 100_000, secret = '' } = packing
  const hashes = Math.ceil(keys / PER_HASH)
  const digest = digesting(sha256(`${encodePart(prefix)} ${encodePart(secret)}`))
  return { hashOf: (key) => digest(key).low % hashes, memberOf: digest }
}

/**
 * Makes a function that digests texts under a secret.
 * @param digits the secret: the first sixteen of these hexadecimal digits
 */
export function digesting(digits: string): (text: string) => Digest {
  const digester = keyedDigester(Number.parseInt(digits.slice(0, 8), 16), Number.parseInt(digits.slice(8, 16), 16))
  return (text) => {
    digester.digest(digester.start, text)
    return { high: digester.hi >>> 0, low: digester.lo >>> 0 }
  }
}
