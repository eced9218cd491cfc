import { hash32 } from '../decision/jitter.ts'
import { LimiterError } from '../errors/limiter-error.ts'
import { shown } from '../errors/options.ts'
import type { Random } from '../time/time.ts'

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
/** Random 32-bit numbers per id. */
const WORDS = 4
/** Base-64 digits per 32-bit number. */
const WIDTH = 6

/** Character codes of an id: version, then digits. Overwritten for each id. */
const units: number[] = Array.from({ length: 1 + WIDTH * (1 + WORDS) }, () => '1'.charCodeAt(0))

/**
 * 31 characters, each a letter, a digit, - or _: a version, a 32-bit digest of the key, and 128 random bits.
 * @param random unpredictable numbers of at least 32 bits
 */
export function newHoldId(key: string, random: Random): string {
  putDigits(1, hash32(key))
  for (let word = 1; word <= WORDS; word += 1) putDigits(1 + WIDTH * word, Math.floor(random() * 2 ** 32))
  // V8 would keep a concatenated text as a tree, and copy it part by part when it is sent.
  return String.fromCharCode(...units)
}

function putDigits(at: number, number: number): void {
  let left = number
  for (let index = at + WIDTH - 1; index >= at; index -= 1) {
    units[index] = DIGITS.charCodeAt(left & 63)
    left >>>= 6
  }
}

export function validHoldId(where: string, id: unknown): string {
  if (typeof id === 'string' && /^[ -~]{1,128}$/.test(id)) return id
  throw new LimiterError('INVALID_OPTIONS', `${where}: id is ${shown(id)}, expected 1 to 128 printable ASCII characters`)
}
