import { ceilDiv, type Oracle, type OracleAnswer } from './oracle.ts'

/**
 * A token bucket in exact fractions of BigInts, written independently of the library's algorithm. Its level grows with time and falls with
 * each charge. Nothing is rounded, and no state expires. Numbers are micro-tokens and microseconds.
 */
export interface BucketFacts {
  /** Micro-tokens every `per` microseconds. */
  readonly micro: bigint
  readonly per: bigint
  readonly burst: bigint
}

export class BucketOracle implements Oracle {
  /** Level in micro-tokens times `per`: whole, since time is. */
  private scaled: bigint
  private seen: bigint | undefined
  private readonly limit: BucketFacts

  constructor(limit: BucketFacts) {
    this.limit = limit
    this.scaled = limit.burst * limit.per
  }

  decide(at: number, cost: bigint): OracleAnswer {
    const { micro, per, burst } = this.limit
    const now = BigInt(at)
    const time = this.seen !== undefined && this.seen > now ? this.seen : now
    const level = this.levelAt(time)
    const behind = Number(time - now)
    if (cost > burst) return this.answer('impossible', level, 0, behind)
    if (level >= cost * per) {
      this.scaled = level - cost * per
      this.seen = time
      return this.answer('allowed', this.scaled, 0, behind)
    }
    return this.answer('denied', level, Number(ceilDiv(cost * per - level, micro)) + behind, behind)
  }

  private levelAt(time: bigint): bigint {
    const { micro, per, burst } = this.limit
    if (this.seen === undefined) return burst * per
    const level = this.scaled + (time - this.seen) * micro
    return level < burst * per ? level : burst * per
  }

  private answer(outcome: OracleAnswer['outcome'], level: bigint, retryAfter: number, behind: number): OracleAnswer {
    const { micro, per, burst } = this.limit
    const full = ceilDiv(burst * per - level, micro)
    const resetAfter = full > 0n ? Number(full) + behind : 0
    const remaining = level / per / 1_000_000n
    const next = (remaining + 1n) * 1_000_000n
    const replenishAfter = next > burst ? resetAfter : Number(ceilDiv(next * per - level, micro)) + behind
    return { outcome, remaining: Number(remaining), retryAfter, replenishAfter, resetAfter }
  }
}
