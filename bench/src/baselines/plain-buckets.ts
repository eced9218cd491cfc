export interface PlainDecision {
  readonly allowed: boolean
  readonly remaining: number
  readonly retryAfterMs: number
}

interface PlainBucket {
  tokens: number
  last: number
}

/**
 * What a program would write without a library: a Map of token buckets in doubles. Nothing is removed or checked, and the clock is read
 * once per call.
 */
export class PlainBuckets {
  readonly buckets: Map<string, PlainBucket> = new Map()
  readonly burst: number
  readonly perMs: number

  /** @param perSecond tokens that are refilled per second */
  constructor(perSecond: number, burst: number) {
    this.perMs = perSecond / 1_000
    this.burst = burst
  }

  check(key: string, cost: number = 1): PlainDecision {
    const now = performance.now()
    let bucket = this.buckets.get(key)
    if (bucket === undefined) {
      bucket = { tokens: this.burst, last: now }
      this.buckets.set(key, bucket)
    }
    const tokens = Math.min(this.burst, bucket.tokens + (now - bucket.last) * this.perMs)
    bucket.last = now
    if (tokens < cost) {
      bucket.tokens = tokens
      return { allowed: false, remaining: Math.floor(tokens), retryAfterMs: Math.ceil((cost - tokens) / this.perMs) }
    }
    bucket.tokens = tokens - cost
    return { allowed: true, remaining: Math.floor(bucket.tokens), retryAfterMs: 0 }
  }
}

/** The Map behind the interface that a store in another process would need: an asynchronous store, and a caller that awaits it. */
export class AsyncPlainBuckets {
  readonly store: AsyncPlainStore

  constructor(buckets: PlainBuckets) {
    this.store = new AsyncPlainStore(buckets)
  }

  async check(key: string, cost: number = 1): Promise<PlainDecision> {
    const decision = await this.store.consume(key, cost)
    return decision
  }
}

class AsyncPlainStore {
  readonly buckets: PlainBuckets

  constructor(buckets: PlainBuckets) {
    this.buckets = buckets
  }

  async consume(key: string, cost: number): Promise<PlainDecision> {
    return this.buckets.check(key, cost)
  }
}
