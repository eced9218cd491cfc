/**
 * SHA-256 of ASCII text as 64 hexadecimal digits (FIPS 180-4). Here because over-long keys are hashed wherever the library
 * runs, also where neither node:crypto nor a synchronous Web Crypto is at hand.
 */
export function sha256(text: string): string {
  const { length } = text
  const blocks = (length + 9 + 63) >> 6
  STATE.set(INITIAL)
  for (let block = 0; block < blocks; block += 1) {
    for (let word = 0; word < 16; word += 1) WORDS[word] = wordAt(text, block * 64 + word * 4)
    if (block === blocks - 1) {
      WORDS[14] = Math.floor(length / 2 ** 29)
      WORDS[15] = length << 3
    }
    compress()
  }
  let digest = ''
  for (let index = 0; index < 8; index += 1) digest += (0x1_0000_0000 + ((STATE[index] as number) >>> 0)).toString(16).slice(1)
  return digest
}

/** Four bytes of the text, or of what follows it: a set bit, then zeros. */
function wordAt(text: string, at: number): number {
  const { length } = text
  if (at + 3 < length) {
    return (
      ((text.charCodeAt(at) & 0xff) << 24) |
      ((text.charCodeAt(at + 1) & 0xff) << 16) |
      ((text.charCodeAt(at + 2) & 0xff) << 8) |
      (text.charCodeAt(at + 3) & 0xff)
    )
  }
  let word = 0
  for (let byte = 0; byte < 4; byte += 1) {
    const place = at + byte
    const value = place < length ? text.charCodeAt(place) & 0xff : place === length ? 0x80 : 0
    word |= value << (24 - 8 * byte)
  }
  return word
}

/** Takes the block in the first sixteen of WORDS into STATE. */
function compress(): void {
  const w = WORDS
  for (let t = 16; t < 64; t += 1) {
    const a = w[t - 15] as number
    const b = w[t - 2] as number
    w[t] =
      (w[t - 16] as number) +
      (((a >>> 7) | (a << 25)) ^ ((a >>> 18) | (a << 14)) ^ (a >>> 3)) +
      (w[t - 7] as number) +
      (((b >>> 17) | (b << 15)) ^ ((b >>> 19) | (b << 13)) ^ (b >>> 10))
  }
  let a = STATE[0] as number
  let b = STATE[1] as number
  let c = STATE[2] as number
  let d = STATE[3] as number
  let e = STATE[4] as number
  let f = STATE[5] as number
  let g = STATE[6] as number
  let h = STATE[7] as number
  for (let t = 0; t < 64; t += 1) {
    const turned = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7))
    const one = (h + turned + ((e & f) ^ (~e & g)) + (CONSTANTS[t] as number) + (w[t] as number)) | 0
    const two = ((((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10))) + ((a & b) ^ (a & c) ^ (b & c))) | 0
    h = g
    g = f
    f = e
    e = (d + one) | 0
    d = c
    c = b
    b = a
    a = (one + two) | 0
  }
  STATE[0] = (STATE[0] as number) + a
  STATE[1] = (STATE[1] as number) + b
  STATE[2] = (STATE[2] as number) + c
  STATE[3] = (STATE[3] as number) + d
  STATE[4] = (STATE[4] as number) + e
  STATE[5] = (STATE[5] as number) + f
  STATE[6] = (STATE[6] as number) + g
  STATE[7] = (STATE[7] as number) + h
}

const PRIMES = firstPrimes(64)
const INITIAL = Uint32Array.from(PRIMES.slice(0, 8), (prime) => fraction(Math.sqrt(prime)))
const CONSTANTS = Int32Array.from(PRIMES, (prime) => fraction(Math.cbrt(prime)) | 0)
/** Reused: a digest is made in one go. */
const STATE = new Int32Array(8)
const WORDS = new Int32Array(64)

/** The first 32 bits of the fractional part, which is how the standard derives its constants. */
function fraction(root: number): number {
  return Math.floor((root - Math.floor(root)) * 2 ** 32) >>> 0
}

function firstPrimes(count: number): number[] {
  const primes: number[] = []
  for (let candidate = 2; primes.length < count; candidate += 1) {
    if (primes.every((prime) => candidate % prime !== 0)) primes.push(candidate)
  }
  return primes
}
