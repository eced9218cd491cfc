import type { Envelope } from '../../algorithms/algorithm.ts'
import type { BucketPlan } from '../../algorithms/bucket-plan.ts'
import type { Micros } from '../../time/micros.ts'
import type { SpendRow } from './spend.ts'
import { planIn } from '../rights/limit.ts'
import type { Run } from '../rights/state.ts'

/** For one peer: what this region has charged to its own states of what the peer spent. */
export interface Known {
  /**
   * How many micro-tokens of a peer's row are not charged yet. @param elapsed microseconds since the instant for which all that the peer
   * had spent was known
   */
  owed(run: Run, row: SpendRow, plan: BucketPlan, elapsed: Micros): number
  /** Notes that the row is charged. */
  charged(row: SpendRow, plan: BucketPlan, now: Micros): void
  /** Notes that everything is charged that the peer had spent when its run had begun `births` rows. */
  complete(run: Run, births: number): void
  /** Forgets rows whose tokens were refilled long before the peer was last read. @param readAt the store time of that read */
  sweep(readAt: Micros): void
}

interface Row {
  born: number
  value: number
  plan: BucketPlan
  /** Store time of the latest charge. */
  at: Micros
}

/** Factor by which elapsed time is lengthened, because the clocks of two regions may run at different rates. */
const MARGIN = 1.001

export function createKnown(): Known {
  let run: Run | undefined
  /** How many rows the peer's run had begun when all of them were known; undefined before all were known once. */
  let births: number | undefined
  let rows = new Map<string, Map<string, Row>>()
  /** Forgets all rows if the peer has another run, because a store that was lost counts from zero again. */
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
        // The peer begins a row anew after the time in which the bucket fills. Here the row is kept twice as long.
        for (const [key, { at, plan }] of keys) if (readAt - at > 2 * plan.emptyBefore.micros) keys.delete(key)
        if (keys.size === 0) rows.delete(scope)
      }
    },
  }
}

/**
 * The most that may not be charged yet of a row that this region does not know. The peer cannot have admitted more than this in the elapsed
 * time.
 */
function mostOf(value: number, { n, m, burst }: Envelope, elapsed: Micros): number {
  return Math.min(value, burst + Math.ceil((elapsed * MARGIN * n) / m))
}

/** Plans by their policy. Cached because a page has many rows with the same policy. */
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
