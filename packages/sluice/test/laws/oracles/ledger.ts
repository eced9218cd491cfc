import { TOKEN } from './oracle.ts'

/** What `settle` needs to know about the charge of a hold. Each kind of limit has its own form of it. */
export type Mark = unknown

/** Micro-tokens that a limit counts for a settled hold (`charged`), and that it could not charge (`overage`). */
export interface Counted {
  readonly charged: bigint
  readonly overage: bigint
}

/**
 * One key of one limit as a ledger in exact arithmetic. It has the charges, and what their settlements make of them. It was written from
 * the documents, without the library's code. Time never goes back. Numbers are micro-tokens and microseconds.
 */
export interface Ledger {
  /** What a call could take now; below 0 for a debt. */
  free(now: bigint): bigint
  /** Charges unconditionally. The mark is for `settle`. */
  charge(now: bigint, cost: bigint): Mark
  settle(now: bigint, mark: Mark, at: bigint, held: bigint, actual: bigint): Counted
}

const least = (...all: readonly bigint[]): bigint => all.reduce((a, b) => (a < b ? a : b))
const most = (...all: readonly bigint[]): bigint => all.reduce((a, b) => (a > b ? a : b))
const floorDiv = (a: bigint, b: bigint): bigint => (a - (((a % b) + b) % b)) / b
const used = (held: bigint, more: bigint, actual: bigint): Counted => ({ charged: held + more, overage: most(0n, actual - held - more) })

/** A token bucket, which is refilled by `micro` micro-tokens every `per` microseconds. All levels are micro-tokens times `per`. */
export class BucketLedger implements Ledger {
  private level: bigint
  private seen: bigint | undefined
  private readonly facts: { readonly micro: bigint; readonly per: bigint; readonly burst: bigint }

  constructor(facts: BucketLedger['facts']) {
    this.facts = facts
    this.level = facts.burst * facts.per
  }

  free(now: bigint): bigint {
    return floorDiv(this.levelAt(now), this.facts.per)
  }

  charge(now: bigint, cost: bigint): Mark {
    this.level = this.levelAt(now) - cost * this.facts.per
    this.seen = now
    // The instant at which the bucket would have been empty to have this level now, in whole microseconds, rounded down.
    return floorDiv(now * this.facts.micro - this.level, this.facts.micro)
  }

  settle(now: bigint, mark: Mark, _at: bigint, held: bigint, actual: bigint): Counted {
    const { micro, per, burst } = this.facts
    this.level = this.levelAt(now)
    this.seen = now
    if (actual > held) {
      const more = most(0n, least(actual - held, floorDiv(this.level + burst * per, per)))
      this.level -= more * per
      return used(held, more, actual)
    }
    // By then the debt of all who were charged is paid.
    const paid = most(now * micro, now * micro - this.level)
    const room = burst * per - (paid - (mark as bigint) * micro)
    this.level = least(this.level + most(0n, least((held - actual) * per, room)), burst * per)
    return { charged: actual, overage: 0n }
  }

  private levelAt(now: bigint): bigint {
    const { micro, per, burst } = this.facts
    return this.seen === undefined ? burst * per : least(burst * per, this.level + (now - this.seen) * micro)
  }
}

/**
 * The sum of charges for each window, by the number of the window since 1970. `weigh`: whether the previous window counts too, as far as
 * the sliding window overlaps it.
 */
export class WindowLedger implements Ledger {
  private readonly sums = new Map<bigint, bigint>()
  private readonly facts: { readonly limit: bigint; readonly window: bigint; readonly weigh: boolean }

  constructor(facts: WindowLedger['facts']) {
    this.facts = facts
  }

  free(now: bigint): bigint {
    return this.facts.limit - this.counted(now)
  }

  charge(now: bigint, cost: bigint): Mark {
    this.add(this.numberAt(now), cost)
    return undefined
  }

  settle(now: bigint, _mark: Mark, at: bigint, held: bigint, actual: bigint): Counted {
    const { limit, weigh } = this.facts
    const [present, number] = [this.numberAt(now), this.numberAt(at)]
    const counts = number === present || (weigh && number === present - 1n)
    if (actual <= held) {
      const back = counts ? least(held - actual, this.sumOf(number)) : 0n
      this.add(number, -back)
      return used(held, -back, actual)
    }
    const into = counts ? number : present
    const room = least(2n * limit - this.counted(now), into === present ? 2n * limit : 2n * limit - this.sumOf(into))
    const more = most(0n, least(actual - held, room))
    this.add(into, more)
    return used(held, more, actual)
  }

  private counted(now: bigint): bigint {
    const { window, weigh } = this.facts
    const number = this.numberAt(now)
    const before = weigh ? this.sumOf(number - 1n) * (window - (now - number * window)) : 0n
    return this.sumOf(number) + (before + window - 1n) / window
  }

  private numberAt(at: bigint): bigint {
    return at / this.facts.window
  }

  private sumOf(number: bigint): bigint {
    return this.sums.get(number) ?? 0n
  }

  private add(number: bigint, cost: bigint): void {
    this.sums.set(number, this.sumOf(number) + cost)
    for (const old of this.sums.keys()) if (old < number - 4n) this.sums.delete(old)
  }
}

/**
 * A list of all charges with their instants. It has at most as many entries as the limit has tokens. Further charges are added to the last
 * entry.
 */
export class LogLedger implements Ledger {
  private entries: { at: bigint; cost: bigint }[] = []
  private readonly facts: { readonly limit: bigint; readonly window: bigint }

  constructor(facts: LogLedger['facts']) {
    this.facts = facts
  }

  free(now: bigint): bigint {
    return this.live(now).reduce((left, { cost }) => left - cost, this.facts.limit)
  }

  charge(now: bigint, cost: bigint): Mark {
    this.entries = this.live(now)
    const last = this.entries.at(-1)
    if (last !== undefined && (last.at === now || this.entries.length >= Number((this.facts.limit + TOKEN - 1n) / TOKEN))) {
      last.at = now
      last.cost += cost
    } else this.entries.push({ at: now, cost })
    return undefined
  }

  settle(now: bigint, _mark: Mark, at: bigint, held: bigint, actual: bigint): Counted {
    const { limit, window } = this.facts
    const counts = at + window > now
    const own = this.live(now).filter((entry) => counts && entry.at >= at)
    if (actual <= held) {
      let left = held - actual
      for (const entry of own) {
        const part = least(left, entry.cost)
        entry.cost -= part
        left -= part
      }
      this.entries = this.entries.filter(({ cost }) => cost > 0n)
      return used(held, left - (held - actual), actual)
    }
    const more = most(0n, least(actual - held, limit + this.free(now)))
    const [first] = own
    if (more > 0n && first !== undefined) first.cost += more
    else if (more > 0n) this.charge(now, more)
    return used(held, more, actual)
  }

  private live(now: bigint): { at: bigint; cost: bigint }[] {
    return this.entries.filter((entry) => entry.at + this.facts.window > now)
  }
}
