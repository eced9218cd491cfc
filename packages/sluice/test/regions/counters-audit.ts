import type { BucketPlan } from '../../src/algorithms/bucket-plan.ts'
import { DRIFT_PARTS } from './audit.ts'

/**
 * Compares what all regions admitted of one key with the bound of counters over every interval of true time. With burst B, rate r and N
 * regions, the bound is B + r t, and B + r D more for each other region. D is how long ago the oldest call of that region was that the
 * granting region does not know. All in whole numbers.
 */
export interface CountersAudit {
  /** A call passed. @param delays D for each other region, in microseconds */
  admit(at: number, cost: number, delays: readonly number[]): void
  /** A clock stepped forward. */
  stepped(micros: number): void
  /**
   * A store was lost. The intervals before and after the loss may each reach their bound. @param delays the longest D so far for each other
   * region
   */
  lost(delays: readonly number[]): void
  /**
   * Audits what could pass now, if everything that is left were taken. @param delays D for each other region, where the last of it is taken
   */
  check(at: number, spendable: number, delays: readonly number[]): void
  /** The most tokens above the bound, in bursts: of what passed (a), and with what could pass now (b). 0: the bound was reached exactly. */
  readonly worst: { readonly a: number; readonly b: number }
}

/** @param limits the limits by which the key is called, in turn. The bound has the largest burst and the largest rate of them */
export function countersAudit(limits: readonly BucketPlan[], drifts: boolean): CountersAudit {
  const burst = Math.max(...limits.map((plan) => plan.burst))
  const { n, m } = limits.reduce((best, plan) => (plan.n * best.m > best.n * plan.m ? plan : best))
  const scale = m * DRIFT_PARTS
  const perMicro = n * (DRIFT_PARTS + (drifts ? 1 : 0))
  let more = 0
  let used = 0
  // The largest value so far of what the rate gave less what was used. The interval that began at that instant is the worst one for every
  // later end.
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
