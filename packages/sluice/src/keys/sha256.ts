/**
 * FIPS 180-4. Implemented here, because some runtimes have neither node:crypto nor a synchronous Web Crypto.
 * @param eighths how many eighths of the 64 digits to return, from the first on
 */
export function sha256(text: string, eighths: number = 8): string {
  hash(text)
  let digest = ''
  for (let index = 0; index < eighths; index += 1) digest += (0x1_0000_0000 + ((STATE[index] as number) >>> 0)).toString(16).slice(1)
  return digest
}

/** The first 22 base64url digits of the SHA-256: 132 bits. */
export function shortDigest(text: string): string {
  hash(text)
  let digest = ''
  for (let bit = 0; bit < 132; bit += 6) {
    const [word, left] = [bit >> 5, 26 - (bit & 31)]
    const high = STATE[word] as number
    digest += DIGITS[(left >= 0 ? high >>> left : (high << -left) | ((STATE[word + 1] as number) >>> (32 + left))) & 63] as string
  }
  return digest
}

/** The digits of base64url. */
export const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/** Writes the SHA-256 of a text to STATE. */
function hash(text: string): void {
  // A UTF-16 unit takes at most three bytes. The text is encoded first, because reading a concatenated text unit by unit costs more than
  // hashing.
  const room = 3 * text.length + 72
  const bytes = room <= BYTES.length ? BYTES : new Uint8Array(room)
  const view = room <= BYTES.length ? VIEW : new DataView(bytes.buffer)
  const length = encoder.encodeInto(text, bytes).written
  const end = ((length + 9 + 63) >> 6) << 6
  bytes[length] = 0x80
  bytes.fill(0, length + 1, end)
  view.setUint32(end - 8, Math.floor(length / 2 ** 29))
  view.setUint32(end - 4, length << 3)
  constants ??= createConstants()
  STATE.set(constants.initial)
  for (let block = 0; block < end; block += 64) {
    for (let word = 0; word < 16; word += 1) WORDS[word] = view.getInt32(block + 4 * word)
    compress(constants.rounds)
  }
}

const encoder = new TextEncoder()
const BYTES = new Uint8Array(1_024)
const VIEW = new DataView(BYTES.buffer)

function compress(rounds: Int32Array): void {
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
    const one = (h + turned + ((e & f) ^ (~e & g)) + (rounds[t] as number) + (w[t] as number)) | 0
    const majority = (a & b) ^ (a & c) ^ (b & c)
    const two = ((((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10))) + majority) | 0
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

/** Computed for the first text, and not at import. */
let constants: ReturnType<typeof createConstants> | undefined

function createConstants() {
  const primes = firstPrimes(64)
  return {
    initial: Int32Array.from(primes.slice(0, 8), (prime) => fraction(Math.sqrt(prime)) | 0),
    rounds: Int32Array.from(primes, (prime) => fraction(Math.cbrt(prime)) | 0),
  }
}

/** A digest is computed synchronously, so this can be reused. */
const STATE = new Int32Array(8)
const WORDS = new Int32Array(64)

/** The standard derives its constants from the first 32 fractional bits. */
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
