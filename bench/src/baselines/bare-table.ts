import type { PlainDecision } from './plain-buckets.ts'

/** The largest share of slots that may be taken. */
const MAX_LOAD = 0.7
/** A slot: 64 bits of digest, the tokens, and the time of the tokens. The two 32-bit words of the digest come first. */
const DOUBLES = 3
const WORDS = DOUBLES * 2

/**
 * The floor for a table that does not keep the texts of keys: open addressing in one typed array of a fixed size. For each key it has a
 * seeded 64-bit digest and a bucket in doubles. It does not grow, and deletes nothing.
 */
export class BareTable {
  readonly slots: number
  readonly words: Uint32Array
  readonly doubles: Float64Array
  readonly seed: number
  readonly burst: number
  readonly perMs: number

  /** @param keys the most different keys that it will be called with */
  constructor(keys: number, perSecond: number, burst: number, seed: number = 0x9e37_79b9) {
    this.slots = Math.ceil(keys / MAX_LOAD) + 1
    const buffer = new ArrayBuffer(this.slots * DOUBLES * Float64Array.BYTES_PER_ELEMENT)
    this.words = new Uint32Array(buffer)
    this.doubles = new Float64Array(buffer)
    this.seed = seed
    this.perMs = perSecond / 1_000
    this.burst = burst
  }

  check(key: string, cost: number = 1): PlainDecision {
    const now = performance.now()
    const { doubles } = this
    const at = this.find(key, now) * DOUBLES + 1
    const tokens = Math.min(this.burst, (doubles[at] as number) + (now - (doubles[at + 1] as number)) * this.perMs)
    doubles[at + 1] = now
    if (tokens < cost) {
      doubles[at] = tokens
      return { allowed: false, remaining: Math.floor(tokens), retryAfterMs: Math.ceil((cost - tokens) / this.perMs) }
    }
    doubles[at] = tokens - cost
    return { allowed: true, remaining: Math.floor(tokens - cost), retryAfterMs: 0 }
  }

  /** The index of the key's slot. A new key gets a full bucket. */
  private find(key: string, now: number): number {
    const { words, slots, seed } = this
    let [high, low] = [seed, ~seed]
    for (let index = 0; index < key.length; index += 1) {
      const code = key.charCodeAt(index)
      high = Math.imul(high ^ code, 0x85eb_ca6b)
      low = Math.imul(low ^ code, 0xc2b2_ae35)
      high ^= high >>> 15
      low ^= low >>> 13
    }
    low = (low ^ Math.imul(high, 0x27d4_eb2f)) >>> 0
    // A digest of 0 would look like an empty slot.
    high = high >>> 0 || 1
    let place = Math.floor((high / 2 ** 32) * slots)
    for (;;) {
      const found = words[place * WORDS] as number
      if (found === high && words[place * WORDS + 1] === low) return place
      if (found === 0) {
        words[place * WORDS] = high
        words[place * WORDS + 1] = low
        this.doubles[place * DOUBLES + 1] = this.burst
        this.doubles[place * DOUBLES + 2] = now
        return place
      }
      place = place + 1 === slots ? 0 : place + 1
    }
  }
}
