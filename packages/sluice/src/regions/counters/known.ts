import type { Envelope } from '../../algorithms/algorithm.ts'
import type { BucketPlan } from '../../algorithms/bucket-plan.ts'
import type { Micros } from '../../time/micros.ts'
import type { SpendRow } from './spend.ts'
import { planIn } from '../rights/limit.ts'
import type { Run } from '../rights/state.ts'

/** For one peer: what this region has charged to its own states of what the peer spent. */
export interface Known {
  /**
   * How many micro-tokens of a peer's row (the sum that it spent of a key) are not charged yet.
   * @param elapsed microseconds since the latest instant up to which this region knew all that the peer had spent
   */
  owed(run: Run, row: SpendRow, plan: BucketPlan, elapsed: Micros): number
  /** Notes that the row is charged. */
  charged(row: SpendRow, plan: BucketPlan, now: Micros): void
  /**
   * Notes that this region has charged everything that the peer had spent. At that time the peer's run (one life of its store) had begun
   * `births` rows.
   */
  complete(run: Run, births: number): void
  /**
   * A row is the sum that a peer spent of a key. Forgets how much of a row was charged, if these tokens were refilled long before the peer
   * was last read. @param readAt the store time of that read
   */
  sweep(readAt: Micros): void
}

interface Row {
  born: number
  value: number
  plan: BucketPlan
  /** Store time of the latest charge. */
  at: Micros
}

/** Elapsed time is multiplied by this factor, because the peer's clock may run faster than the one of this region. */
const MARGIN = 1.001

export function createKnown(): Known {
  let run: Run | undefined
  /** How many rows the peer's run (one life of its store) had begun when this region last knew all of them; undefined before it did. */
  let births: number | undefined
  let rows = new Map<string, Map<string, Row>>()
  /** Forgets all rows if the peer has another run (its store was lost and started anew), because the new store counts from zero. */
  const meet = (from: Run): void => {
    if (from === run) return
    run = from
    births = undefined
    rows = new Map()
  }
  return {
    owed(from, { scope, key, most, born, value }, plan, elapsed) {
      meet(from)
      const known = rows.get(scope)?.get(key)
      if (known !== undefined && born < known.born) return 0
      if (known?.born === born) return Math.max(0, value - known.value)
      const isNew = known !== undefined || (births !== undefined && born > births)
      return isNew ? value : mostOf(value, most ?? plan, elapsed)
    },
    charged({ scope, key, born, value }, plan, now) {
      const keys = rows.get(scope) ?? new Map<string, Row>()
      rows.set(scope, keys)
      const known = keys.get(key)
      if (known === undefined || born > known.born) keys.set(key, { born, value, plan, at: now })
      else if (born === known.born) Object.assign(known, { value: Math.max(known.value, value), plan, at: now })
    },
    complete(of, begun) {
      meet(of)
      births = begun
    },
    sweep(readAt) {
      for (const [scope, keys] of rows) {
        // A row is the sum that the peer spent of a key. The peer begins a new row if the key was not called for the time in which its
        // bucket fills. This region keeps the old row twice as long.
        for (const [key, { at, plan }] of keys) if (readAt - at > 2 * plan.emptyBefore.micros) keys.delete(key)
        if (keys.size === 0) rows.delete(scope)
      }
    },
  }
}

/**
 * A row is the sum that a peer spent of a key. Returns the most that may not be charged yet of a row that this region does not know: the
 * burst plus what the rate gives in the elapsed time, and no more than the row says.
 */
function mostOf(value: number, { n, m, burst }: Envelope, elapsed: Micros): number {
  return Math.min(value, burst + Math.ceil((elapsed * MARGIN * n) / m))
}

/** Plans (limits in whole numbers) by the policy that messages name. Cached because a message has many rows with the same policy. */
const PLANS = new Map<string, BucketPlan>()
const MAX_PLANS = 1_000

/** The plan that a row's policy names. It always exists, because the page was checked. */
export function planNamed(policy: string): BucketPlan {
  const known = PLANS.get(policy)
  if (known !== undefined) return known
  const plan = planIn(policy) as BucketPlan
  if (PLANS.size >= MAX_PLANS) PLANS.clear()
  PLANS.set(policy, plan)
  return plan
}
