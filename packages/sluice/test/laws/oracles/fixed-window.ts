import { answerOf, type Oracle, type OracleAnswer, TOKEN } from './oracle.ts'

export interface FixedWindowFacts {
  readonly limit: bigint
  readonly window: bigint
  readonly align: 'clock' | 'first' | 'key'
  readonly ramp: bigint
  readonly phase: bigint
}

/** A fixed window as a list of all charges, each with the start of its window. What is used is added up anew for each call. */
export class FixedWindowOracle implements Oracle {
  private readonly charges: { start: bigint; cost: bigint }[] = []
  private readonly facts: FixedWindowFacts

  constructor(facts: FixedWindowFacts) {
    this.facts = facts
  }

  decide(at: number, cost: bigint): OracleAnswer {
    const { limit } = this.facts
    const now = BigInt(at)
    if (cost > limit) return this.answer('impossible', now, cost)
    if (this.free(now) < cost) return this.answer('denied', now, cost)
    const start = this.startAt(now)
    // Windows before the last one are of no use any more.
    if (this.charges.length > 0 && this.charges[0]?.start !== start) this.charges.length = 0
    this.charges.push({ start, cost })
    return this.answer('allowed', now, cost)
  }

  /**
   * The start of the window in which a charge at this instant counts. The last window counts as long as it runs, even if the clock was set
   * back.
   */
  private startAt(at: bigint): bigint {
    const { window, align, phase } = this.facts
    const last = this.charges.at(-1)?.start
    if (last !== undefined && at < last + window) return last
    if (align === 'first') return at
    const shift = align === 'key' ? (phase * window) / 2n ** 32n : 0n
    return at - ((((at - shift) % window) + window) % window)
  }

  private free(at: bigint): bigint {
    const { limit, ramp } = this.facts
    const start = this.startAt(at)
    const used = this.charges.reduce((sum, charge) => (charge.start === start ? sum + charge.cost : sum), 0n)
    const elapsed = at > start ? at - start : 0n
    // A ramp is the start of a window, in which the limit grows with time from one token to all. In it, this share of the limit is
    // available.
    const share = elapsed >= ramp ? limit : (limit * elapsed) / ramp
    const soft = share < TOKEN ? TOKEN : share
    return (soft < limit ? soft : limit) - used
  }

  private answer(outcome: OracleAnswer['outcome'], now: bigint, cost: bigint): OracleAnswer {
    const { limit, window, align } = this.facts
    const end = this.startAt(now) + window
    const used = this.charges.some((charge) => charge.start + window === end)
    const free = (at: bigint): bigint => this.free(at)
    const ends = [end, align === 'first' ? end : end + window]
    return answerOf({ now, cost, limit, ends, free, fresh: used ? end : now, outcome })
  }
}
