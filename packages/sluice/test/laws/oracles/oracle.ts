/** What a limit answers, computed without the library's algorithm. Times are in microseconds after the call. */
export interface OracleAnswer {
  readonly outcome: 'allowed' | 'denied' | 'impossible'
  readonly remaining: number
  readonly retryAfter: number
  readonly replenishAfter: number
  readonly resetAfter: number
}

/** One key of one limit in exact arithmetic, written from the definition of the limit. It keeps all charges for ever. */
export interface Oracle {
  /** @param cost micro-tokens */
  decide(at: number, cost: bigint): OracleAnswer
}

export const TOKEN = 1_000_000n

export function ceilDiv(a: bigint, b: bigint): bigint {
  return (a + b - 1n) / b
}

/** Finds the first number from `low` to `high` for which `holds` is true. Once it is true, it is true for all later numbers. */
function firstWhere(low: bigint, high: bigint, holds: (number: bigint) => boolean): bigint {
  let [from, to] = [low, high]
  while (from < to) {
    const middle = (from + to) / 2n
    if (holds(middle)) to = middle
    else from = middle + 1n
  }
  return from
}

/**
 * Computes an answer from one function, `free`: how much can be taken at an instant. To find when a cost fits, it searches intervals in
 * which `free` never falls.
 */
export function answerOf(facts: {
  readonly now: bigint
  readonly cost: bigint
  readonly limit: bigint
  /** Ends of successive intervals after `now`. Within each, `free` never falls. At the last end, everything fits. */
  readonly ends: readonly bigint[]
  readonly free: (at: bigint) => bigint
  readonly fresh: bigint
  readonly outcome: OracleAnswer['outcome']
}): OracleAnswer {
  const { now, cost, limit, ends, free, fresh, outcome } = facts
  const when = (wanted: bigint): number => {
    let from = now
    for (const end of ends) {
      if (from < end && free(end - 1n) >= wanted) return Number(firstWhere(from, end - 1n, (at) => free(at) >= wanted) - now)
      from = end > from ? end : from
    }
    return Number(from - now)
  }
  const left = free(now)
  const remaining = left < 0n ? 0n : left / TOKEN
  const next = (remaining + 1n) * TOKEN
  const resetAfter = Number(fresh - now)
  return {
    outcome,
    remaining: Number(remaining),
    retryAfter: outcome === 'denied' ? when(cost) : 0,
    replenishAfter: next > limit ? resetAfter : when(next),
    resetAfter,
  }
}
