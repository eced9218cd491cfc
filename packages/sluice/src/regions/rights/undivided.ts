import { MICRO } from '../../algorithms/decimal.ts'
import { hashOfId } from '../../stores/id-hash.ts'
import type { StateId } from '../../stores/store.ts'
import { keyedLimit, portion, type RegionalLimit, UNITS } from './limit.ts'
import { type Region, type Roster, weightOf } from './roster.ts'
import type { RegionStore } from './state.ts'

/**
 * Whether one region holds all units of a key, because an equal share would be below one token and could grant no call. Only the burst and
 * the roster decide this, because all regions know the same. If they disagreed, they could together hold more than the limit.
 * @param burst micro-tokens
 */
export function isUndivided({ weights }: Roster, burst: number): boolean {
  return weights.size > 1 && burst >= MICRO && portion(burst, Math.floor(UNITS / weights.size)) < MICRO
}

/** Whether one region holds all units of a key in the era of this roster. */
export function isWhole(roster: Roster, { hash, whole }: RegionalLimit): boolean {
  return hash !== undefined && isUndivided(roster, whole.burst)
}

/** The units of a key that a region holds at the start of an era. All regions of a roster together hold at most UNITS. */
export function firstUnits(roster: Roster, region: Region, limit: RegionalLimit): number {
  if (!isWhole(roster, limit)) return weightOf(roster, region)
  return homeOf(roster, limit.hash as number) === region ? UNITS : 0
}

/** Whether the limit is undivided in an era that the region still knows. Different keys then have different shares. */
export function mayBeWhole({ shifts, roster }: RegionStore, { whole }: RegionalLimit): boolean {
  return isUndivided(roster, whole.burst) || shifts.some(({ rosters }) => rosters?.some((one) => isUndivided(one, whole.burst)) === true)
}

export function limitOfKey(limit: RegionalLimit, id: StateId): RegionalLimit {
  return keyedLimit(limit, hashOfId(id))
}

/** Replaces the limit by one that contains the hash of the key. */
export function keyed<T extends { readonly limit: RegionalLimit } | undefined>(known: T, id: StateId): T {
  return known && { ...known, limit: limitOfKey(known.limit, id) }
}

/** Regions in the order of their names, the same everywhere, each with the sum of weights up to it. */
const ENDS = new WeakMap<Roster, readonly (readonly [region: Region, end: number])[]>()

/**
 * The region that holds all units of an undivided key at first, and again after each change of weights. The key's hash chooses it, in
 * proportion to the weights. Undefined if all weights are 0.
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
