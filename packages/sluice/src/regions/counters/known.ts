import type { Envelope } from '../../algorithms/algorithm.ts'
import type { BucketPlan } from '../../algorithms/bucket-plan.ts'
import type { Micros } from '../../time/micros.ts'
import type { SpendRow } from './spend.ts'
import { planIn } from '../rights/limit.ts'
import type { Run } from '../rights/state.ts'

/** What this region has charged to its own states of what one peer spent. */
export interface Known {
  /** How much of a row is not charged yet, in micro-tokens. @param elapsed microseconds since all that this peer had spent was known */
  owed(run: Run, row: SpendRow, plan: BucketPlan, elapsed: Micros): number
  /** The row is charged. */
  charged(row: SpendRow, plan: BucketPlan, now: Micros): void
  /** Notes that all rows of a run are known that had begun when so many had begun. */
  complete(run: Run, births: number): void
  /** Forgets rows that would have been refilled long ago. */
  sweep(now: Micros): void
}

interface Row {
  born: number
  value: number
  plan: BucketPlan
  /** Store time of the latest charge. */
  at: Micros
}

/** Clocks may drift. */
const MARGIN = 1.001

export function createKnown(): Known {
  let run: Run | undefined
  /** How many rows had begun when all were known; undefined before that. */
  let births: number | undefined
  let rows = new Map<string, Map<string, Row>>()
  /** A store that was lost counts from nothing, under another run. */
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
    sweep(now) {
      for (const [scope, keys] of rows) {
        // Twice as long as the peer keeps its row, which then begins again.
        for (const [key, { at, plan }] of keys) if (now - at > 2 * plan.emptyBefore.micros) keys.delete(key)
        if (keys.size === 0) rows.delete(scope)
      }
    },
  }
}

/** What may be new in a row that this region does not know: no region admits more than this in the time. */
function mostOf(value: number, { n, m, burst }: Envelope, elapsed: Micros): number {
  return Math.min(value, burst + Math.ceil((elapsed * MARGIN * n) / m))
}

/** By policy, because a page has many rows of the same. */
const PLANS = new Map<string, BucketPlan>()
const MAX_PLANS = 1_000

/** The plan that a row names. A page was checked: it has no other names. */
export function planNamed(policy: string): BucketPlan {
  const known = PLANS.get(policy)
  if (known !== undefined) return known
  const plan = planIn(policy) as BucketPlan
  if (PLANS.size >= MAX_PLANS) PLANS.clear()
  PLANS.set(policy, plan)
  return plan
}
