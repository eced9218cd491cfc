import type { Envelope } from '../../algorithms/algorithm.ts'
import type { BucketPlan } from '../../algorithms/bucket-plan.ts'
import type { Micros } from '../../time/micros.ts'
import type { SpendRow } from './spend.ts'
import { planIn } from '../rights/limit.ts'
import type { Run } from '../rights/state.ts'

/** What this region has charged to its own states of what one peer spent. */
export interface Known {
  /**
   * How many micro-tokens of a row (what the peer spent of a key) are not charged yet.
   * @param elapsed microseconds since this region last knew all that the peer had spent
   */
  owed(run: Run, row: SpendRow, plan: BucketPlan, elapsed: Micros): number
  charged(row: SpendRow, plan: BucketPlan, now: Micros): void
  /**
   * Notes that all that a complete read of the peer has shown is charged.
   * @param births how many rows the peer's run (store lifetime) had begun
   */
  complete(run: Run, births: number): void
  /**
   * Forgets rows whose tokens were refilled long before the peer was last read.
   * @param readAt the store time of that read
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

/** Factor for elapsed time: the peer's clock may run faster. */
const MARGIN = 1.001

export function createKnown(): Known {
  let run: Run | undefined
  /** How many rows `run` had begun at the last complete read; undefined before. */
  let births: number | undefined
  let rows = new Map<string, Map<string, Row>>()
  /** A new run (store lifetime) of the peer counts from zero, so all rows are forgotten. */
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
        // After half of this time without calls, the peer begins a new row.
        for (const [key, { at, plan }] of keys) if (readAt - at > 2 * plan.emptyBefore.micros) keys.delete(key)
        if (keys.size === 0) rows.delete(scope)
      }
    },
  }
}

/** For a row of which an unknown part is charged: the row's value, but at most what the limit admits in `elapsed` (see `owed`). */
function mostOf(value: number, { n, m, burst }: Envelope, elapsed: Micros): number {
  return Math.min(value, burst + Math.ceil((elapsed * MARGIN * n) / m))
}

/** Cached, because a message has many rows with the same policy. */
const PLANS = new Map<string, BucketPlan>()
const MAX_PLANS = 1_000

/** Always exists, because the page was checked. */
export function planNamed(policy: string): BucketPlan {
  const known = PLANS.get(policy)
  if (known !== undefined) return known
  const plan = planIn(policy) as BucketPlan
  if (PLANS.size >= MAX_PLANS) PLANS.clear()
  PLANS.set(policy, plan)
  return plan
}
