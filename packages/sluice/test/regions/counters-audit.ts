import type { BucketPlan } from '../../src/algorithms/bucket-plan.ts'
import { DRIFT_PARTS } from './audit.ts'

/**
 * What one key admitted over all regions, against B + r t + (N - 1) B + r (the sum of D over the others) over every interval of true time,
 * where D is how long ago the oldest call was that the region does not know. All in whole numbers.
 */
export interface CountersAudit {
  /** A call passed. @param delays D for each other region, in microseconds */
  admit(at: number, cost: number, delays: readonly number[]): void
  /** A clock stepped forward. */
  stepped(micros: number): void
  /** A store was lost: intervals before and after it may each reach their bound. @param delays the longest of each other region so far */
  lost(delays: readonly number[]): void
  /** What could pass now, if everything that is left were taken, the last of it where `delays` are. */
  check(at: number, spendable: number, delays: readonly number[]): void
  /** The most above the bound by what passed (a) and what could have (b), in bursts. 0: the bound was reached exactly. */
  readonly worst: { readonly a: number; readonly b: number }
}

/** @param limits the limits in turn: an interval may use the largest burst and rate of them */
export function countersAudit(limits: readonly BucketPlan[], drifts: boolean): CountersAudit {
  const burst = Math.max(...limits.map((plan) => plan.burst))
  const { n, m } = limits.reduce((best, plan) => (plan.n * best.m > best.n * plan.m ? plan : best))
  const scale = m * DRIFT_PARTS
  const perMicro = n * (DRIFT_PARTS + (drifts ? 1 : 0))
  let more = 0
  let used = 0
  // The largest accrual less use at the start of an interval: the worst start for every later end.
  let start = 0
  const worst = { a: -Infinity, b: -Infinity }
  const allowed = (delays: readonly number[]): number =>
    burst * scale + delays.reduce((sum, micros) => sum + burst * scale + Math.max(0, micros) * perMicro, 0)
  const excess = (at: number, extra: number, delays: readonly number[]): number => {
    const now = at * perMicro + more - used
    start = Math.max(start, now)
    return (start - now + extra * scale - allowed(delays)) / (burst * scale)
  }
  return {
    worst,
    admit(at, cost, delays) {
      excess(at, 0, delays)
      used += cost * scale
      worst.a = Math.max(worst.a, excess(at, 0, delays))
    },
    stepped(micros) {
      more += micros * n * DRIFT_PARTS
    },
    lost(delays) {
      more += allowed(delays)
    },
    check(at, spendable, delays) {
      worst.b = Math.max(worst.b, excess(at, spendable, delays))
    },
  }
}
