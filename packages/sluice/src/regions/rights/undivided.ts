import { MICRO } from '../../algorithms/decimal.ts'
import { hashOfId } from '../../stores/id-hash.ts'
import type { StateId } from '../../stores/store.ts'
import { keyedLimit, portion, type RegionalLimit, UNITS } from './limit.ts'
import { type Region, type Roster, weightOf } from './roster.ts'
import type { RegionStore } from './state.ts'

/**
 * Whether the cells of a limit with this burst are not divided in an era (R8): an equal share would be below one token, so no region could
 * grant a call. It follows from the burst and from the roster on which all regions of the era agree, and from nothing else: if regions chose
 * differently, they would hold more than the limit.
 * @param burst micro-tokens
 */
export function isUndivided({ weights }: Roster, burst: number): boolean {
  return weights.size > 1 && burst >= MICRO && portion(burst, Math.floor(UNITS / weights.size)) < MICRO
}

/** Whether the cell of this key is not divided in an era. */
export function isWhole(roster: Roster, { hash, whole }: RegionalLimit): boolean {
  return hash !== undefined && isUndivided(roster, whole.burst)
}

/** The units that a region holds of a cell at the start of an era. Over all regions of a roster they are at most UNITS. */
export function firstUnits(roster: Roster, region: Region, limit: RegionalLimit): number {
  if (!isWhole(roster, limit)) return weightOf(roster, region)
  return homeOf(roster, limit.hash as number) === region ? UNITS : 0
}

/** Whether a limit is not divided in any of the eras of which the region still knows. If so, its keys have different shares. */
export function mayBeWhole({ shifts, roster }: RegionStore, { whole }: RegionalLimit): boolean {
  return isUndivided(roster, whole.burst) || shifts.some(({ rosters }) => rosters?.some((one) => isUndivided(one, whole.burst)) === true)
}

/** The limit for one key. */
export function limitOfKey(limit: RegionalLimit, id: StateId): RegionalLimit {
  return keyedLimit(limit, hashOfId(id))
}

/** What has the limit of a key, with the limit for this key. */
export function keyed<T extends { readonly limit: RegionalLimit } | undefined>(known: T, id: StateId): T {
  return known && { ...known, limit: limitOfKey(known.limit, id) }
}

/** Regions of a roster with the ends of their parts of the sum of weights; by name, so that all regions have them in one order. */
const ENDS = new WeakMap<Roster, readonly (readonly [region: Region, end: number])[]>()

/** The region in which a cell that is not divided begins: by weight, and by the hash of its key. Undefined if nobody has a weight. */
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
