import { MICRO } from '../../algorithms/decimal.ts'
import type { StateId } from '../../stores/store.ts'
import { MICROS_PER_MS } from '../../time/micros.ts'
import type { MonotonicInstant } from '../../time/time.ts'
import { eachBounded } from '../bounded.ts'
import type { Held } from '../rights/cell.ts'
import { type Gift, giftsOf, takesTurns, type WholeDemand, wholeGiftOf } from './demand.ts'
import type { HeldKeys } from './held-keys.ts'
import type { Ledger } from '../ledger.ts'
import { portion, type RegionalLimit, UNITS } from '../rights/limit.ts'
import type { Meter, Metered } from './meter.ts'
import type { LearnedNeed, PeerNeeds } from './peer-needs.ts'
import type { RegionNeeds } from './region-needs.ts'
import type { Region } from '../rights/roster.ts'
import type { Rows } from '../rights/state.ts'

/** Sends units to peers by their demand. */
export interface Donor {
  /**
   * Sends a peer the units that it lacks and this region can spare.
   * @param peers those whose figures are recent
   */
  give(peer: Region, peers: readonly Region[]): Promise<void>
}

/**
 * The most keys of which units are sent before one answer. The bound is needed because the peer waits for the answer. Units of further keys
 * are sent at the peer's next pull.
 */
const MAX_GIFTS = 250

/** @param region what the callers of this region need, in all its processes */
export function createDonor(
  self: Region,
  ledger: Ledger,
  heldKeys: HeldKeys,
  meter: Meter,
  region: RegionNeeds,
  peerNeeds: PeerNeeds,
  monotonic: () => MonotonicInstant,
): Donor {
  /**
   * Counts a key that a peer needs, from now on, and returns what is counted of it. Undefined if the key's limit is not known here, or if
   * there is no room to count the key.
   */
  const requestedKey = (need: LearnedNeed): { readonly id: StateId; readonly own: Metered } | undefined => {
    const found = ledger.limitIn({ scope: { text: need.scope }, key: need.key }, need.policy)
    if (found === undefined) return undefined
    const { scope, whole, limit } = found
    const id = { scope, key: need.key }
    const own = meter.find(id) ?? meter.watch(id, whole, limit)
    if (own === undefined) return undefined
    if (!own.called) Object.assign(own, { whole, limit })
    own.requested = 0
    return { id, own }
  }
  return {
    async give(peer, peers) {
      const wantedOf = new Map(peers.map((one) => [one, peerNeeds.of(one)]))
      const { weights } = ledger.region.roster
      const absent = [...weights.keys()].filter((one) => one !== self && !peers.includes(one))
      let room = MAX_GIFTS
      await eachBounded([...peerNeeds.of(peer)], async ([name, need]) => {
        const requested = requestedKey(need)
        if (requested === undefined) return
        const { id, own } = requested
        const wanted = region.sumOf(own)
        // No units of a key are sent until this process knows what the callers of all processes of this region need of the key.
        if (wanted === undefined || !region.isWhole(own)) return
        const gift = (held: Held): number => {
          const demands = peers.map((one) => demandOf(one, wantedOf.get(one)?.get(name), held.rows))
          const gifts = giftsIn(
            held,
            { region: self, units: held.units, need: wanted, cost: region.costOf(own) },
            demands,
            own,
            monotonic(),
            UNITS - absent.reduce((sum, one) => sum + (peerNeeds.of(one).get(name)?.units ?? (weights.get(one) as number)), 0),
          )
          return gifts.find(({ to }) => to === peer)?.units ?? 0
        }
        const { limit } = own
        // The units that were last read show that of most keys there is nothing to send. For the others, `lend` calls `gift` again with the
        // units that the region holds then, because another process may have sent some.
        if (gift(await heldKeys.of(id, limit)) === 0 || room === 0) return
        room -= 1
        heldKeys.forget(id)
        await ledger.lend(id, need.policy, peer, gift)
      })
    },
  }
}

/** The demand of a peer. Units that were sent to the peer and that it has not read yet count as units that it holds. */
function demandOf(peer: Region, found: LearnedNeed | undefined, rows: Rows | undefined): WholeDemand {
  const sent = rows?.sent.get(peer)?.units ?? 0
  const arriving = found === undefined ? 0 : Math.max(0, sent - found.received)
  const { units, need, cost, since } = found ?? { units: 0, need: 0, cost: 0, since: 0 }
  return { region: peer, units: units + arriving, need, cost, since: since * MICROS_PER_MS }
}

/**
 * What a region sends of a key to each of its peers.
 * @param rest all units of the key, without those that the regions which cannot be reached held when last known
 */
function giftsIn(
  { whole }: Held,
  own: Omit<WholeDemand, 'since'>,
  peers: readonly WholeDemand[],
  metered: Metered,
  at: MonotonicInstant,
  rest: number,
): readonly Gift[] {
  if (metered.units === undefined || own.units > metered.units) metered.heldSince = at
  metered.units = own.units
  const { limit, heldSince } = metered
  if (!whole && !takesTurns([own, ...peers])) {
    const known = peers.reduce((sum, { units }) => sum + units, own.units)
    return giftsOf(own, peers, reserveOf(limit), Math.min(UNITS, Math.max(known, rest)))
  }
  const refill = (limit.whole.emptyBefore.micros * own.cost) / UNITS
  const gift = wholeGiftOf({ ...own, since: heldSince * MICROS_PER_MS }, peers, refill, at * MICROS_PER_MS)
  return gift === undefined ? [] : [gift]
}

/** The units that a region without calls keeps for its first call. 0 if these units could not grant a call of cost 1. */
function reserveOf({ whole }: RegionalLimit): number {
  const reserve = UNITS / 100
  return portion(whole.burst, reserve) < MICRO ? 0 : reserve
}
