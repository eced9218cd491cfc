import type { BucketPlan } from '../../src/algorithms/bucket-plan.ts'

/** How much faster than true time a clock may run: a 2000th, which is 500 ppm. Times of histories are multiples of 2000 microseconds. */
export const DRIFT_PARTS = 2000

/** What one cell admitted over all regions, against the limit B + r * t over every interval of true time. All in whole numbers. */
export interface CellAudit {
  /** A call passed. */
  admit(at: number, cost: number): void
  /** A clock stepped forward: it may accrue that much sooner. */
  stepped(micros: number): void
  /** Audits what passed (a), and what passed with all that could pass now (b). */
  check(at: number, spendable: number): void
  /** The most above the limit by audit (a) and (b), in bursts; at most 0 if nothing was over. 0 in (a): the limit was reached exactly. */
  readonly worst: { readonly a: number; readonly b: number }
}

/**
 * @param limits the limits in turn: an interval may use the largest burst and rate of them
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
  // The largest accrual less use at the start of an interval: the worst start for every later end.
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
