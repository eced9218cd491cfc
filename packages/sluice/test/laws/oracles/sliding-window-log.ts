import { ceilDiv, type Oracle, type OracleAnswer, TOKEN } from './oracle.ts'

export interface LogFacts {
  readonly limit: bigint
  readonly window: bigint
}

/** A sliding window log as a plain list. Every call reads the whole list. */
export class LogOracle implements Oracle {
  private entries: { at: bigint; cost: bigint }[] = []
  private readonly facts: LogFacts

  constructor(facts: LogFacts) {
    this.facts = facts
  }

  decide(at: number, cost: bigint): OracleAnswer {
    const { limit, window } = this.facts
    const now = BigInt(at)
    const newest = this.entries.at(-1)
    const time = newest !== undefined && newest.at > now ? newest.at : now
    const live = this.entries.filter((entry) => entry.at + window > time)
    const used = live.reduce((sum, entry) => sum + entry.cost, 0n)
    if (cost > limit) return this.answer('impossible', now, live, cost)
    if (used + cost > limit) return this.answer('denied', now, live, cost)
    const last = live.at(-1)
    if (last !== undefined && (last.at === time || live.length >= Number(ceilDiv(limit, TOKEN)))) {
      live.pop()
      live.push({ at: time, cost: last.cost + cost })
    } else live.push({ at: time, cost })
    this.entries = live
    return this.answer('allowed', now, live, cost)
  }

  private answer(outcome: OracleAnswer['outcome'], now: bigint, live: readonly { at: bigint; cost: bigint }[], cost: bigint): OracleAnswer {
    const { limit, window } = this.facts
    /** Entries leave one by one until so much is free. */
    const when = (wanted: bigint): number => {
      let used = live.reduce((sum, entry) => sum + entry.cost, 0n)
      for (const entry of live) {
        used -= entry.cost
        if (limit - used >= wanted) return Number(entry.at + window - now)
      }
      return Number.NaN
    }
    const free = live.reduce((left, entry) => left - entry.cost, limit)
    const remaining = free / TOKEN
    const newest = live.at(-1)
    const resetAfter = newest === undefined ? 0 : Number(newest.at + window - now)
    const next = (remaining + 1n) * TOKEN
    return {
      outcome,
      remaining: Number(remaining),
      retryAfter: outcome === 'denied' ? when(cost) : 0,
      replenishAfter: next > limit ? resetAfter : when(next),
      resetAfter,
    }
  }
}
