import type { AnyLimit } from '../../algorithms/algorithm.ts'
import { MICRO } from '../../algorithms/decimal.ts'
import type { CallGroup, GroupVerdict, StateId } from '../../stores/store.ts'
import type { Micros } from '../../time/micros.ts'
import type { MonotonicInstant } from '../../time/time.ts'
import { type RegionalLimit, UNITS } from '../rights/limit.ts'
import { isNameable } from './messages.ts'

export interface Metered {
  readonly id: StateId
  whole: AnyLimit
  limit: RegionalLimit
  /** Whether a call in this region, not a peer, gave `limit`. */
  called: boolean
  /** As in `Demand`, at most UNITS; undefined during the first window. */
  need: number | undefined
  /** The smoothed need, in units, and its growth per window. */
  level: number | undefined
  trend: number
  /** When the present window began. */
  since: MonotonicInstant
  /** In micro-tokens, of this window: all costs, and the greatest. `largest`: the greatest denied one, kept for `waits` more windows. */
  cost: number
  most: number
  largest: number
  waits: number
  /** The greatest cost of one call in at most `MAX_IDLE` windows, in micro-tokens, and how many windows ago. */
  peak: number
  peakAge: number
  /** How many windows ago the key was last called. */
  idle: number
  /** Windows since a peer last requested units; Infinity if none has. */
  requested: number
  /** Quota units held at a peer's last request, and since when the region has held at least as many. */
  units: number | undefined
  heldSince: MonotonicInstant
}

/** Counts the calls of keys that were denied or that peers request. Other keys cost no time. */
export interface Meter {
  count(group: CallGroup, verdict: GroupVerdict): void
  /** Undefined if the meter is full or the key too long. */
  watch(id: StateId, whole: AnyLimit, limit: RegionalLimit): Metered | undefined
  find(id: StateId): Metered | undefined
  /** Ends windows of at least `MIN_WINDOW_MS`, and forgets idle keys. */
  roll(): void
  keys(): Iterable<Metered>
  readonly active: boolean
}

/** A shorter window shows too little of the demand. */
const MIN_WINDOW_MS = 400
/** Growing demand is reported as it is expected to be this many windows later, because quota takes that long to arrive. */
const LEAD = 2
/** Windows for which a denied call without `retryAfter` counts: its caller may call seldom, and peers do not read in every window. */
const WAITS = 6
/** After more windows than this without calls, a key is forgotten. */
const MAX_IDLE = 60

/** @param bucketOf returns undefined for a limit that regions do not divide */
export function createMeter(maxKeys: number, bucketOf: (limit: AnyLimit) => RegionalLimit | undefined, monotonic: () => number): Meter {
  const scopes = new Map<string, Map<string, Metered>>()
  let size = 0
  const find = ({ scope, key }: StateId): Metered | undefined => scopes.get(scope.text)?.get(key)
  const keys = function* (): Generator<Metered> {
    for (const named of scopes.values()) yield* named.values()
  }
  const watch: Meter['watch'] = ({ scope, key }, whole, limit) => {
    if (size >= maxKeys || !isNameable({ scope, key })) return undefined
    const named = scopes.get(scope.text) ?? new Map<string, Metered>()
    // A caller may reuse its id object for another key.
    const id = { scope, key }
    const metered = newMetered(id, whole, limit, monotonic())
    scopes.set(scope.text, named.set(key, metered))
    size += 1
    return metered
  }
  const drop = ({ id }: Metered): void => {
    const named = scopes.get(id.scope.text)
    named?.delete(id.key)
    if (named?.size === 0) scopes.delete(id.scope.text)
    size -= 1
  }
  return {
    find,
    watch,
    keys,
    get active() {
      return size > 0
    },
    count({ calls }, verdict) {
      if (verdict.outcome === undefined) return
      const { outcome, retryAfter, calls: verdicts } = verdict
      for (const [index, { id, limit: whole, cost }] of calls.entries()) {
        const denied = verdicts[index]?.outcome !== 'allowed'
        // Skips a call that only another limit of the group denied, and a cost above the whole limit: more quota helps neither.
        if ((outcome !== 'allowed' && !denied) || cost > whole.capacity * MICRO) continue
        let metered = find(id)
        if (metered === undefined && denied) {
          const limit = bucketOf(whole)
          metered = limit && watch(id, whole, limit)
        }
        if (metered === undefined) continue
        if (metered.whole !== whole) Object.assign(metered, { whole, limit: bucketOf(whole) ?? metered.limit })
        addCall(metered, cost, denied, retryAfter)
      }
    },
    roll() {
      const now = monotonic()
      for (const metered of keys()) {
        if (now - metered.since < MIN_WINDOW_MS) continue
        endWindow(metered, now)
        if (metered.idle > MAX_IDLE) drop(metered)
      }
    },
  }
}

function newMetered(id: StateId, whole: AnyLimit, limit: RegionalLimit, since: MonotonicInstant): Metered {
  return {
    id,
    whole,
    limit,
    called: false,
    need: undefined,
    level: undefined,
    trend: 0,
    since,
    cost: 0,
    most: 0,
    largest: 0,
    waits: 0,
    peak: 0,
    peakAge: 0,
    units: undefined,
    heldSince: 0,
    idle: 0,
    requested: Infinity,
  }
}

function addCall(metered: Metered, cost: number, denied: boolean, retryAfter: Micros | undefined): void {
  metered.called = true
  metered.cost += cost
  metered.most = Math.max(metered.most, cost)
  if (!denied) return
  metered.largest = Math.max(metered.largest, cost)
  if (retryAfter === undefined) metered.waits = WAITS
}

function endWindow(metered: Metered, now: MonotonicInstant): void {
  const { n, m, burst } = metered.limit.whole
  // n/m is the limit's rate in micro-tokens per microsecond. A denied call needs a share whose burst is at least its cost.
  const rate = metered.cost / ((now - metered.since) * 1_000)
  const units = Math.max((rate * m) / n, metered.largest / burst) * UNITS
  const level = smooth(metered.level, Math.min(UNITS, units))
  metered.trend = metered.level === undefined ? 0 : (metered.trend + level - metered.level) / 2
  metered.level = level
  metered.need = Math.min(UNITS, level + LEAD * Math.max(0, metered.trend))
  metered.idle = metered.cost === 0 ? metered.idle + 1 : 0
  metered.requested += 1
  metered.peakAge = metered.most >= metered.peak ? 0 : metered.peakAge + 1
  if (metered.peakAge === 0 || metered.peakAge > MAX_IDLE) metered.peak = metered.most
  metered.waits = Math.max(0, metered.waits - 1)
  Object.assign(metered, { since: now, cost: 0, most: 0, largest: metered.waits > 0 ? metered.largest : 0 })
}

/** A need that changes by a larger fraction is applied at once. A smaller change may be chance. */
const JUMP = 0.25
/** Fraction of a smaller change that is applied in each window. */
const WEIGHT = 0.5

function smooth(before: number | undefined, now: number): number {
  if (before === undefined || Math.abs(now - before) > JUMP * Math.max(now, before)) return now
  return before + (now - before) * WEIGHT
}
