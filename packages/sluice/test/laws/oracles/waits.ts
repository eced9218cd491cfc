import type { BucketFacts } from './token-bucket.ts'
import { ceilDiv } from './oracle.ts'

/**
 * A call that was charged before its tokens were there: its cost, the bucket's level right after the charge, and the time of the charge.
 */
export interface Turn {
  readonly cost: bigint
  readonly level: bigint
  readonly time: bigint
}

/** What a call is answered, and its turn if it was charged before its tokens were there. Times are in microseconds after the call. */
export interface WaitAnswer {
  readonly outcome: 'allowed' | 'denied' | 'impossible'
  readonly retryAfter: number
  readonly remaining: number
  readonly replenishAfter: number
  readonly resetAfter: number
  readonly turn?: Turn
}

/**
 * A bucket whose calls may be charged before their tokens are there, in exact arithmetic. It was written from the documents, without the
 * library's code. The level is micro-tokens times `per`, may be below 0, and grows by `micro` every microsecond. Only answers are rounded.
 */
export class WaitOracle {
  #level: bigint
  #seen: bigint | undefined
  readonly #facts: BucketFacts

  constructor(facts: BucketFacts) {
    this.#facts = facts
    this.#level = facts.burst * facts.per
  }

  /** @param most how many microseconds before its tokens are there a call may be charged */
  decide(at: bigint, cost: bigint, most: bigint): WaitAnswer {
    const { micro, per, burst } = this.#facts
    const time = this.#timeAt(at)
    const level = this.#levelAt(time)
    const after = level - cost * per
    if (cost > burst) return { outcome: 'impossible', retryAfter: 0, ...this.#view(at, time, level) }
    if (after < -most * micro) {
      return { outcome: 'denied', retryAfter: Number(ceiling(-most * micro - after, micro) + time - at), ...this.#view(at, time, level) }
    }
    const wait = most === 0n ? 0 : Math.max(0, Number(ceiling(-after, micro) + time - at))
    this.#level = after
    this.#seen = time
    const answer = { outcome: 'allowed', retryAfter: wait, ...this.#view(at, time, after) } as const
    return most === 0n ? answer : { ...answer, turn: { cost, level: after, time } }
  }

  /**
   * Gives back the charge of a call that leaves. If its turn has not come, what others were charged since is subtracted. If its turn has
   * come, it gives back only what the bucket always had room for since then, and has until the last waiting call starts.
   */
  leave(at: bigint, { cost, level: own, time: from }: Turn): void {
    const { micro, per, burst } = this.#facts
    const time = this.#timeAt(at)
    const [expected, level] = [own + (time - from) * micro, this.#levelAt(time)]
    const since = expected - level
    if (expected >= 0n) {
      // The bucket was empty after the call at this instant, rounded down to a microsecond.
      const empty = from - ceiling(own, micro)
      const room = burst * per - (time - empty) * micro + (level < 0n ? level : 0n)
      const back = room < cost * per ? room : cost * per
      if (back <= 0n) return
      if (level + back >= burst * per) {
        // A full bucket is forgotten, and with it the latest time.
        this.#level = burst * per
        this.#seen = undefined
        return
      }
      this.#level = level + back
    } else {
      if (since < 0n || since >= cost * per) return
      this.#level = level + cost * per - since
    }
    this.#seen = time
  }

  #timeAt(at: bigint): bigint {
    return this.#seen !== undefined && this.#seen > at ? this.#seen : at
  }

  #levelAt(time: bigint): bigint {
    const { micro, per, burst } = this.#facts
    if (this.#seen === undefined) return burst * per
    const level = this.#level + (time - this.#seen) * micro
    return level < burst * per ? level : burst * per
  }

  #view(at: bigint, time: bigint, level: bigint): Pick<WaitAnswer, 'remaining' | 'replenishAfter' | 'resetAfter'> {
    const { micro, per, burst } = this.#facts
    const untilFull = burst * per - level
    const resetAfter = untilFull > 0n ? Number(ceilDiv(untilFull, micro) + time - at) : 0
    const remaining = level < 0n ? 0n : level / per / 1_000_000n
    const next = (remaining + 1n) * 1_000_000n
    return {
      remaining: Number(remaining),
      replenishAfter: next > burst ? resetAfter : Number(ceilDiv(next * per - level, micro) + time - at),
      resetAfter,
    }
  }
}

/** The quotient rounded up, also below 0. */
function ceiling(a: bigint, b: bigint): bigint {
  return a > 0n ? ceilDiv(a, b) : a / b
}
