import { hash32 } from '../decision/jitter.ts'
import { LimiterError } from '../errors/limiter-error.ts'
import { shown } from '../errors/options.ts'
import type { Random } from '../time/time.ts'

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
/** How many 32-bit numbers an id has that nobody can guess. */
const WORDS = 4

/**
 * A new id of a hold: a version, a digest of its key, which says where its record lies, and 128 random bits; 31 letters, digits, - and _.
 * @param random numbers in [0, 1) of at least 32 bits that nobody can guess
 */
export function newHoldId(key: string, random: Random): string {
  let id = `1${digitsOf(hash32(key))}`
  for (let word = 0; word < WORDS; word += 1) id += digitsOf(Math.floor(random() * 2 ** 32))
  return id
}

/** Each twelve bits as two digits: half as many pieces of text are joined. */
const PAIRS: readonly string[] = Array.from({ length: 4_096 }, (_, bits) => `${DIGITS[bits >> 6]}${DIGITS[bits & 63]}`)

/** A number below 2^32 as six digits of six bits. */
function digitsOf(number: number): string {
  return `${PAIRS[number >>> 24]}${PAIRS[(number >>> 12) & 4_095]}${PAIRS[number & 4_095]}`
}

/** @throws LimiterError INVALID_OPTIONS unless it is a text of 1 to 128 printable ASCII characters */
export function validHoldId(where: string, id: unknown): string {
  if (typeof id === 'string' && /^[ -~]{1,128}$/.test(id)) return id
  throw new LimiterError('INVALID_OPTIONS', `${where}: id is ${shown(id)}, expected 1 to 128 printable ASCII characters`)
}
