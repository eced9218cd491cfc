import { MICRO } from '../../algorithms/decimal.ts'
import { hashOfId } from '../../stores/id-hash.ts'
import type { StateId } from '../../stores/store.ts'
import { keyedLimit, portion, type RegionalLimit, UNITS } from './limit.ts'
import { type Region, type Roster, weightOf } from './roster.ts'
import type { RegionStore } from './state.ts'

/**
 * Whether the keys of a limit with this burst are not divided in an era: one region holds all units of a key. This is so if an equal share
 * would be below one token, because then no region could grant a call. The result depends only on the burst and on the roster, on which all
 * regions of the era agree. If regions disagreed on it, they would together hold more than the limit.
 * @param burst micro-tokens
 */
export function isUndivided({ weights }: Roster, burst: number): boolean {
  return weights.size > 1 && burst >= MICRO && portion(burst, Math.floor(UNITS / weights.size)) < MICRO
}

/** Whether a key is not divided among regions in the era of a roster, so that one region holds all units. */
export function isWhole(roster: Roster, { hash, whole }: RegionalLimit): boolean {
  return hash !== undefined && isUndivided(roster, whole.burst)
}

/** The units that a region holds of a key at the start of an era. All regions of a roster together hold at most UNITS. */
export function firstUnits(roster: Roster, region: Region, limit: RegionalLimit): number {
  if (!isWhole(roster, limit)) return weightOf(roster, region)
  return homeOf(roster, limit.hash as number) === region ? UNITS : 0
}

/**
 * Whether in one of the eras that the region still knows the limit is not divided. If so, different keys of the limit have different
 * shares.
 */
export function mayBeWhole({ shifts, roster }: RegionStore, { whole }: RegionalLimit): boolean {
  return isUndivided(roster, whole.burst) || shifts.some(({ rosters }) => rosters?.some((one) => isUndivided(one, whole.burst)) === true)
}

/** The limit for one key, with the key's hash. */
export function limitOfKey(limit: RegionalLimit, id: StateId): RegionalLimit {
  return keyedLimit(limit, hashOfId(id))
}

/** Returns a copy of an object, with its limit replaced by the limit for this key, which has the key's hash. */
export function keyed<T extends { readonly limit: RegionalLimit } | undefined>(known: T, id: StateId): T {
  return known && { ...known, limit: limitOfKey(known.limit, id) }
}

/**
 * For each roster: its regions in the order of their names, which is the same everywhere, each with the sum of the weights up to and
 * including it.
 */
const ENDS = new WeakMap<Roster, readonly (readonly [region: Region, end: number])[]>()

/**
 * The region that holds all units of an undivided key at the start of an era. The key's hash chooses it, each region for a part of all
 * hashes in proportion to its weight. Undefined if no region has a weight.
 */
function homeOf(roster: Roster, hash: number): Region | undefined {
  let ends = ENDS.get(roster)
  if (ends === undefined) {
    let sum = 0
    ends = [...roster.weights].sort(([a], [b]) => (a < b ? -1 : 1)).map(([region, weight]) => [region, (sum += weight)] as const)
    ENDS.set(roster, ends)
  }
  const point = hash % Math.max(ends.at(-1)?.[1] ?? 0, 1)
  return ends.find(([, end]) => point < end)?.[0]
}
