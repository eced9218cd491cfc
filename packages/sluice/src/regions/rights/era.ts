import type { Micros } from '../../time/micros.ts'
import { lastShift } from './cell.ts'
import { relearn } from './recovery.ts'
import { isGone, isNewer, isSame, keepingGone, newest, peersOf, type Region, type Roster, weightOf } from './roster.ts'
import { MAX_SHIFTS, type RegionStore, type Status, type Shift } from './state.ts'
import { isBound } from './status.ts'

export { statusFor } from './status.ts'

/**
 * Closes this era (a time of constant weights) in one store, which then sends and receives no units. From then on it holds, of each key, at
 * most the lower of its present units and its units in the next era.
 */
export function close(store: RegionStore, wanted: Roster, now: Micros): RegionStore {
  const { phase, roster, next, region } = store
  if (phase === 'learning' || (phase === 'closed' && next !== undefined && !isNewer(wanted, next))) return store
  const coming = newest([roster, next === undefined ? wanted : keepingGone(wanted, next)])
  const last = lastShift(store)
  const units = Math.min(last.units, weightOf(coming, region))
  const rosters = last.rosters === undefined ? undefined : [...last.rosters, coming]
  return { ...store, phase: 'closed', next: coming, shifts: shiftedAt(store, { era: store.era, units, rosters, cut: true }, now) }
}

/**
 * Follows a peer that has closed this era (time of constant weights) or begun a later one: closes this store's era. A store that just
 * started (`learning`) only replaces the peer's answer to its hello by this status.
 */
export function meet(store: RegionStore, status: Status, now: Micros): RegionStore {
  if (!isBound(store, status) || status.phase === 'learning') return store
  if (store.phase === 'learning') return relearn(store, status)
  if (status.era >= store.era + 2) return skip(store, status, now)
  if (status.era === store.era + 1) return close(store, status.roster, now)
  return status.era === store.era && status.phase === 'closed' ? close(store, status.next ?? status.roster, now) : store
}

/**
 * Begins the next era once a peer has begun it, or once all peers agree on its roster, the regions and weights (`hasAgreed`). A region
 * outside the closed era's roster waits until a peer has begun. In the new era each region holds its weight of every key again, and
 * buckets keep their tokens.
 * @param statuses the latest status of each peer; older ones do no harm
 */
export function open(store: RegionStore, statuses: ReadonlyMap<Region, Status>, now: Micros): RegionStore {
  const { phase, next } = store
  if (phase !== 'closed' || next === undefined) return store
  const peers = peersOf(store.roster, store.region)
  const known = peers.flatMap((peer) => statuses.get(peer) ?? []).filter((status) => isBound(store, status))
  const later = known.find((status) => status.era >= store.era + 2)
  if (later !== undefined) return skip(store, later, now)
  const begun = known.find((status) => status.era === store.era + 1 && !isGone(next, status.from, status.run))
  const isAgreed = store.roster.weights.has(store.region) && peers.every((peer) => hasAgreed(store, next, peer, statuses.get(peer)))
  if (begun === undefined && !isAgreed) return store
  const roster = begun?.roster ?? next
  const era = store.era + 1
  const shifts = shiftedAt(store, { era, units: weightOf(roster, store.region), rosters: [roster], cut: false }, now)
  const opened: RegionStore = { ...store, phase: 'open', era, roster, next: undefined, shifts }
  // A peer may already have closed the era that this store has just begun. Its status is applied before the next pull.
  let met = opened
  for (const peer of peersOf(roster, store.region)) {
    const status = statuses.get(peer)
    if (status !== undefined) met = meet(met, status, now)
  }
  return open(met, statuses, now)
}

/**
 * Whether a peer has closed this era, with the same next roster (regions and weights) as this store. A peer that this roster declares gone
 * agrees, too.
 */
function hasAgreed(store: RegionStore, next: Roster, peer: Region, status: Status | undefined): boolean {
  const run = store.bound.get(peer)
  if (run !== undefined && isGone(next, peer, run)) return true
  if (status === undefined || !isBound(store, status) || status.era !== store.era || status.phase !== 'closed') return false
  return status.next !== undefined && isSame(status.next, next)
}

/** This store is two or more eras behind: nothing that it held counts, and it holds nothing until the next era. */
function skip(store: RegionStore, { era, roster, next }: Status, now: Micros): RegionStore {
  const coming = newest([roster, ...[next, store.next].filter((known) => known !== undefined)])
  return {
    ...store,
    phase: 'closed',
    era,
    roster,
    next: coming,
    shifts: shiftedAt(store, { era, units: 0, rosters: undefined, cut: false }, now),
  }
}

function shiftedAt(store: RegionStore, shift: Omit<Shift, 'at'>, now: Micros): RegionStore['shifts'] {
  const at = Math.max(now, lastShift(store).at)
  const [first, ...others] = store.shifts.slice(-(MAX_SHIFTS - 1)) as [Shift, ...Shift[]]
  return [first, ...others, { ...shift, at }]
}
