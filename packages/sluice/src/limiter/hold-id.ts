import { hash32 } from '../decision/jitter.ts'
import { LimiterError } from '../errors/limiter-error.ts'
import { shown } from '../errors/options.ts'
import type { Random } from '../time/time.ts'

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
/** How many random 32-bit numbers an id contains. */
const WORDS = 4
/** How many digits of six bits (base 64) each 32-bit number takes. */
const WIDTH = 6

/** The character codes of an id: its version, then its digits. The list is reused, and overwritten for each id. */
const units: number[] = Array.from({ length: 1 + WIDTH * (1 + WORDS) }, () => '1'.charCodeAt(0))

/**
 * Makes the id of a new hold: 31 characters, each a letter, a digit, - or _. They contain a version, a 32-bit digest of the hold's key, and
 * 128 random bits.
 * @param random unpredictable numbers in [0, 1), each of at least 32 bits
 */
export function newHoldId(key: string, random: Random): string {
  putDigits(1, hash32(key))
  for (let word = 1; word <= WORDS; word += 1) putDigits(1 + WIDTH * word, Math.floor(random() * 2 ** 32))
  // The text is built at once. V8 would keep a concatenated text as a tree of parts, and copy it part by part when it is sent.
  return String.fromCharCode(...units)
}

/** Writes a number below 2^32 as six digits of six bits. */
function putDigits(at: number, number: number): void {
  let left = number
  for (let index = at + WIDTH - 1; index >= at; index -= 1) {
    units[index] = DIGITS.charCodeAt(left & 63)
    left >>>= 6
  }
}

/** Returns the id of a hold. @throws LimiterError INVALID_OPTIONS unless it is a text of 1 to 128 printable ASCII characters */
export function validHoldId(where: string, id: unknown): string {
  if (typeof id === 'string' && /^[ -~]{1,128}$/.test(id)) return id
  throw new LimiterError('INVALID_OPTIONS', `${where}: id is ${shown(id)}, expected 1 to 128 printable ASCII characters`)
}
