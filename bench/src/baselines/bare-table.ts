import type { PlainDecision } from './plain-buckets.ts'

const DIGEST_WORDS = 2
const STATE_WORDS = 2

/**
 * The floor of any table without key strings: open addressing over typed arrays of a fixed size, a seeded 64-bit digest per key, and
 * the same bucket in doubles. It grows no further, forgets nothing and must be at most half full.
 */
export class BareTable {
  readonly mask: number
  readonly digests: Uint32Array
  readonly states: Float64Array
  readonly seed: number
  readonly burst: number
  readonly perMs: number

  /** @param keys most keys it will be asked for */
  constructor(keys: number, perSecond: number, burst: number, seed: number = 0x9e37_79b9) {
    const slots = 2 ** Math.ceil(Math.log2(Math.max(1, keys) * 2))
    this.mask = slots - 1
    this.digests = new Uint32Array(slots * DIGEST_WORDS)
    this.states = new Float64Array(slots * STATE_WORDS)
    this.seed = seed
    this.perMs = perSecond / 1_000
    this.burst = burst
  }

  check(key: string, cost: number = 1): PlainDecision {
    const now = performance.now()
    const slot = this.slotOf(key, now)
    const { states } = this
    const tokens = Math.min(this.burst, (states[slot] as number) + (now - (states[slot + 1] as number)) * this.perMs)
    states[slot + 1] = now
    if (tokens < cost) {
      states[slot] = tokens
      return { allowed: false, remaining: Math.floor(tokens), retryAfterMs: Math.ceil((cost - tokens) / this.perMs) }
    }
    states[slot] = tokens - cost
    return { allowed: true, remaining: Math.floor(tokens - cost), retryAfterMs: 0 }
  }

  /** Where the key's two numbers stand; a new key gets a full bucket. */
  private slotOf(key: string, now: number): number {
    const { digests, mask, seed } = this
    let [high, low] = [seed, ~seed]
    for (let index = 0; index < key.length; index += 1) {
      const code = key.charCodeAt(index)
      high = Math.imul(high ^ code, 0x85eb_ca6b)
      low = Math.imul(low ^ code, 0xc2b2_ae35)
      high ^= high >>> 15
      low ^= low >>> 13
    }
    // A digest of 0 would look like an empty place.
    high = high >>> 0 || 1
    low = (low ^ Math.imul(high, 0x27d4_eb2f)) >>> 0
    let place = low & mask
    for (;;) {
      const found = digests[place * DIGEST_WORDS] as number
      if (found === high && digests[place * DIGEST_WORDS + 1] === low) return place * STATE_WORDS
      if (found === 0) {
        digests[place * DIGEST_WORDS] = high
        digests[place * DIGEST_WORDS + 1] = low
        this.states[place * STATE_WORDS] = this.burst
        this.states[place * STATE_WORDS + 1] = now
        return place * STATE_WORDS
      }
      place = (place + 1) & mask
    }
  }
}
