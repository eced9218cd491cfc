import { answerOf, ceilDiv, type Oracle, type OracleAnswer, TOKEN } from './oracle.ts'

export interface CounterFacts {
  readonly limit: bigint
  readonly window: bigint
}

/**
 * The least of 1, 10, 100 ... microseconds that divides the window into at most 2^31 parts. The limit in tokens times these parts must be
 * below 2^52.
 */
function quantumOf({ limit, window }: CounterFacts): bigint {
  const fits = Array.from({ length: 16 }, (_, power) => 10n ** BigInt(power)).filter(
    (quantum) => window % quantum === 0n && window / quantum <= 2n ** 31n && ceilDiv(limit, TOKEN) * (window / quantum) < 2n ** 52n,
  )
  return fits[0] as bigint
}

/**
 * A sliding window counter as a sum for each window since 1970. The weight of the previous window is a fraction that changes by the
 * documented quantum.
 */
export class CounterOracle implements Oracle {
  private sums = new Map<bigint, bigint>()
  private last = -1n
  private readonly facts: CounterFacts
  private readonly quantum: bigint

  constructor(facts: CounterFacts) {
    this.facts = facts
    this.quantum = quantumOf(facts)
  }

  decide(at: number, cost: bigint): OracleAnswer {
    const { limit } = this.facts
    const now = BigInt(at)
    if (cost > limit) return this.answer('impossible', now, cost)
    if (this.free(now) < cost) return this.answer('denied', now, cost)
    const number = this.numberAt(now)
    this.sums.set(number, this.sumOf(number) + cost)
    this.last = number
    return this.answer('allowed', now, cost)
  }

  /** The number of the window that contains an instant. If the clock was set back, it is the number of the last window with a charge. */
  private numberAt(at: bigint): bigint {
    const number = at / this.facts.window
    return number > this.last ? number : this.last
  }

  private sumOf(number: bigint): bigint {
    return this.sums.get(number) ?? 0n
  }

  private free(at: bigint): bigint {
    const { limit, window } = this.facts
    const number = this.numberAt(at)
    const elapsed = at - number * window
    const gone = elapsed > 0n ? elapsed - (elapsed % this.quantum) : 0n
    return limit - this.sumOf(number) - ceilDiv(this.sumOf(number - 1n) * (window - gone), window)
  }

  private answer(outcome: OracleAnswer['outcome'], now: bigint, cost: bigint): OracleAnswer {
    const { limit, window } = this.facts
    const number = this.numberAt(now)
    const end = (number + 1n) * window
    const fresh = this.sumOf(number) > 0n ? end + window : this.sumOf(number - 1n) > 0n ? end : now
    return answerOf({ now, cost, limit, ends: [end, end + window], free: (at) => this.free(at), fresh, outcome })
  }
}
