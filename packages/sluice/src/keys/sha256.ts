/**
 * SHA-256 of ASCII text as 64 hexadecimal digits (FIPS 180-4). Here because over-long keys are hashed wherever the library
 * runs, also where neither node:crypto nor a synchronous Web Crypto is at hand.
 */
export function sha256(text: string): string {
  const length = text.length
  const blocks = (length + 9 + 63) >> 6
  const words = new Uint32Array(blocks * 16)
  for (let index = 0; index < length; index += 1) {
    words[index >> 2] = (words[index >> 2] as number) | ((text.charCodeAt(index) & 0xff) << (24 - (index % 4) * 8))
  }
  words[length >> 2] = (words[length >> 2] as number) | (0x80 << (24 - (length % 4) * 8))
  words[words.length - 2] = Math.floor(length / 2 ** 29)
  words[words.length - 1] = length << 3
  const state = Uint32Array.from(INITIAL)
  for (let block = 0; block < blocks; block += 1) compress(state, words.subarray(block * 16, block * 16 + 16))
  return [...state].map((word) => word.toString(16).padStart(8, '0')).join('')
}

function compress(state: Uint32Array, block: Uint32Array): void {
  const w = new Uint32Array(64)
  w.set(block)
  for (let t = 16; t < 64; t += 1) {
    const a = w[t - 15] as number
    const b = w[t - 2] as number
    w[t] = (w[t - 16] as number) + (turn(a, 7) ^ turn(a, 18) ^ (a >>> 3)) + (w[t - 7] as number) + (turn(b, 17) ^ turn(b, 19) ^ (b >>> 10))
  }
  let [a, b, c, d, e, f, g, h] = state as unknown as [number, number, number, number, number, number, number, number]
  for (let t = 0; t < 64; t += 1) {
    const one = (h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + (CONSTANTS[t] as number) + (w[t] as number)) | 0
    const two = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0
    h = g
    g = f
    f = e
    e = (d + one) | 0
    d = c
    c = b
    b = a
    a = (one + two) | 0
  }
  const worked = [a, b, c, d, e, f, g, h]
  for (let index = 0; index < 8; index += 1) state[index] = (state[index] as number) + (worked[index] as number)
}

function turn(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits))
}

const PRIMES = firstPrimes(64)
const INITIAL = PRIMES.slice(0, 8).map((prime) => fraction(Math.sqrt(prime)))
const CONSTANTS = PRIMES.map((prime) => fraction(Math.cbrt(prime)))

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
