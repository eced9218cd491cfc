import type { Micros } from '../../time/micros.ts'
import { lastShift } from './cell.ts'
import { relearn } from './recovery.ts'
import { isGone, isNewer, isSame, keepingGone, newest, peersOf, type Region, type Roster, weightOf } from './roster.ts'
import { MAX_SHIFTS, type RegionStore, type Status, type Shift } from './state.ts'
import { isBound } from './status.ts'

export { statusFor } from './status.ts'

/**
 * Ends this era (the time in which weights stay the same) in one store: the store sends and receives no units any more. From now on it
 * holds of each key the lower of two numbers: the units that it has in this era, and those that it gets in the next. If the store is closed
 * already, a newer roster replaces that of the next era. Then the store also holds no more than by that roster.
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
 * Follows a peer that has closed this era or has begun a later one: closes this store, too. While this store is learning, replaces the
 * answer that the peer gave by its status. A run is one life of a store. A status of another run than the one that this store has bound
 * changes nothing.
 */
export function meet(store: RegionStore, status: Status, now: Micros): RegionStore {
  if (!isBound(store, status) || status.phase === 'learning') return store
  if (store.phase === 'learning') return relearn(store, status)
  if (status.era >= store.era + 2) return skip(store, status, now)
  if (status.era === store.era + 1) return close(store, status.roster, now)
  return status.era === store.era && status.phase === 'closed' ? close(store, status.next ?? status.roster, now) : store
}

/**
 * Begins the next era, if all regions are ready. If a peer has begun it, that peer's roster is used. Otherwise each peer must be known to
 * be closed in this era with the same roster for the next one. Or it must be gone for good by that roster. A region that is not in the
 * roster of this era never begins the next one first: the others do not wait for it, and may still choose another roster. A run (one life
 * of a store) that is gone by the next roster does not count as a peer that has begun. In the new era the region holds its weight of every
 * key again, whatever was sent or received before. The tokens in buckets stay. Then the statuses are applied to the new era, in which the
 * store may be closed again.
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
  // The statuses of peers may already say that a peer has closed the era that opens here. If they were applied only at the next pull, the
  // regions would take longer to agree.
  let met = opened
  for (const peer of peersOf(roster, store.region)) {
    const status = statuses.get(peer)
    if (status !== undefined) met = meet(met, status, now)
  }
  return open(met, statuses, now)
}

/**
 * Whether a peer will begin the next era with the same roster (regions and weights) as this store. Also true if the peer will never do so,
 * because it is gone for good by that roster.
 */
function hasAgreed(store: RegionStore, next: Roster, peer: Region, status: Status | undefined): boolean {
  const run = store.bound.get(peer)
  if (run !== undefined && isGone(next, peer, run)) return true
  if (status === undefined || !isBound(store, status) || status.era !== store.era || status.phase !== 'closed') return false
  return status.next !== undefined && isSame(status.next, next)
}

/**
 * An era is the time in which weights stay the same. Called if peers are two or more eras ahead. Nothing that this store held counts any
 * more, and it holds nothing until the next era.
 */
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
