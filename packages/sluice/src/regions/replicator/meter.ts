import type { AnyLimit } from '../../algorithms/algorithm.ts'
import { MICRO } from '../../algorithms/decimal.ts'
import type { CallGroup, GroupVerdict, StateId } from '../../stores/store.ts'
import type { Micros } from '../../time/micros.ts'
import type { MonotonicInstant } from '../../time/time.ts'
import { type RegionalLimit, UNITS } from '../rights/limit.ts'
import { isNameable } from './messages.ts'

/** What the callers of a region attempted of one key. */
export interface Metered {
  readonly id: StateId
  whole: AnyLimit
  limit: RegionalLimit
  /** Whether `limit` is that of a call in this region. If not, it is the one that a peer named. */
  called: boolean
  /** The need, as in `Demand`, at the end of the last window; at most UNITS. Undefined before the first window has ended. */
  need: number | undefined
  /** The smoothed need of the latest windows, in units, and by how much it grows in each window. */
  level: number | undefined
  trend: number
  /** When the present window began. */
  since: MonotonicInstant
  /** In the present window, in micro-tokens: the sum of all costs, the greatest cost, and the greatest cost that was denied. */
  cost: number
  most: number
  largest: number
  /**
   * For how many more windows `largest` is kept. It is kept if no wait would have let a denied call pass, because only units of other
   * regions help such a call.
   */
  waits: number
  /** The greatest cost of the latest windows, in micro-tokens, and how many windows ago it was called. */
  peak: number
  peakAge: number
  /** How many windows ago the key was last called. */
  idle: number
  /** How many windows ago a peer last requested units of the key; Infinity if no peer has. */
  requested: number
  /** The units that the region held when a peer last requested some, and since when it has held at least so many. */
  units: number | undefined
  heldSince: MonotonicInstant
}

/**
 * Counts what callers attempt of some keys: those of which the region has too little, and those that peers request. Other keys cost no
 * time.
 */
export interface Meter {
  /** Counts a group that was decided. */
  count(group: CallGroup, verdict: GroupVerdict): void
  /** Counts a key from now on. Returns undefined if there is no room for another key. */
  watch(id: StateId, whole: AnyLimit, limit: RegionalLimit): Metered | undefined
  find(id: StateId): Metered | undefined
  /** Ends the window of each key whose window has lasted long enough, and forgets keys without calls. */
  roll(): void
  keys(): Iterable<Metered>
  /** Whether any key is counted. */
  readonly active: boolean
}

/** The least length of a window in milliseconds. A shorter window shows too little of the demand. */
const MIN_WINDOW_MS = 400
/** If the demand grows, the demand that is expected this many windows later is reported, because units take that long to arrive. */
const LEAD = 2
/**
 * For how many windows a denied call counts that no wait would let pass. Its caller may call seldom, and peers do not read in every window.
 */
const WAITS = 6
/** After more windows than this without calls, a key is forgotten. */
const MAX_IDLE = 60

/**
 * @param maxKeys the most keys that are counted
 * @param bucketOf returns the limit that regions divide; undefined for a limit that they do not divide
 */
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
    // A copy, because a caller may use its id object again for another key.
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
        // If only another limit of the group denies a call, the call needs no units of this limit, and is skipped. So is a call with a cost
        // above the whole limit, because no units help it.
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

/** If the need changes by more than this fraction, the demand has changed. A smaller change may be chance. */
const JUMP = 0.25
/** The fraction of a smaller change that is applied in each window. */
const WEIGHT = 0.5

function smooth(before: number | undefined, now: number): number {
  if (before === undefined || Math.abs(now - before) > JUMP * Math.max(now, before)) return now
  return before + (now - before) * WEIGHT
}
