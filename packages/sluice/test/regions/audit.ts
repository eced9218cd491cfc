import type { BucketPlan } from '../../src/algorithms/bucket-plan.ts'

/**
 * Clocks may run faster or slower than true time by a part of 1 in so many (500 ppm). Times in histories are multiples of 2000
 * microseconds, so that drifted times are whole numbers.
 */
export const DRIFT_PARTS = 2000

/**
 * Compares what all regions admitted of one key with the limit: at most burst + rate * t over every interval of length t of true time. All
 * in whole numbers.
 */
export interface CellAudit {
  /** A call passed. */
  admit(at: number, cost: number): void
  /** A store's clock stepped forward, so its bucket may be refilled that much sooner. */
  stepped(micros: number): void
  /** Audit (a) counts what passed. Audit (b) also counts `spendable`: what could pass now, if everything that is left were taken. */
  check(at: number, spendable: number): void
  /**
   * The most tokens above the limit found by audits (a) and (b), in bursts. Above 0: the limit was exceeded. 0 in (a): it was reached
   * exactly.
   */
  readonly worst: { readonly a: number; readonly b: number }
}

/**
 * @param limits the limits by which the key is called, in turn. The bound has the largest burst and the largest rate of them
 * @param drifts whether clocks may drift
 * @param from the earliest start of an interval
 */
export function cellAudit(limits: readonly BucketPlan[], drifts: boolean, from = 0): CellAudit {
  const burst = Math.max(...limits.map((plan) => plan.burst))
  const { n, m } = limits.reduce((best, plan) => (plan.n * best.m > best.n * plan.m ? plan : best))
  const scale = m * DRIFT_PARTS
  const perMicro = n * (DRIFT_PARTS + (drifts ? 1 : 0))
  let steps = 0
  let used = 0
  // The largest value so far of what the rate gave less what was used. The interval that began at that instant is the worst one for every
  // later end.
  let start = from * perMicro
  const worst = { a: -Infinity, b: -Infinity }
  const excess = (at: number, more: number): number => {
    const now = at * perMicro + steps - used
    start = Math.max(start, now)
    return (start - now + (more - burst) * scale) / (burst * scale)
  }
  return {
    worst,
    admit(at, cost) {
      excess(at, 0)
      used += cost * scale
      worst.a = Math.max(worst.a, excess(at, 0))
    },
    stepped(micros) {
      steps += micros * n * DRIFT_PARTS
    },
    check(at, spendable) {
      worst.b = Math.max(worst.b, excess(at, spendable))
    },
  }
}
