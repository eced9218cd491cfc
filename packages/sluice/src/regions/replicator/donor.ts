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

export interface Donor {
  /** @param peers those whose reported needs are recent */
  give(peer: Region, peers: readonly Region[]): Promise<void>
}

/** The most keys of which quota is sent per answer, because the peer waits for it. Others follow at its next pull. */
const MAX_GIFTS = 250

export function createDonor(
  self: Region,
  ledger: Ledger,
  heldKeys: HeldKeys,
  meter: Meter,
  region: RegionNeeds,
  peerNeeds: PeerNeeds,
  monotonic: () => MonotonicInstant,
): Donor {
  /** Counts the key's calls from now on. Undefined if the key's limit is unknown here, or there is no room. */
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
        // Until the needs of all processes are known, nothing is sent.
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
        // Usually the remembered units show that there is nothing to send. Otherwise `lend` calls `gift` again with the present units,
        // because another process may have sent some.
        if (gift(await heldKeys.of(id, limit)) === 0 || room === 0) return
        room -= 1
        heldKeys.forget(id)
        await ledger.lend(id, need.policy, peer, gift)
      })
    },
  }
}

/** Units on the way to the peer count as held by it. */
function demandOf(peer: Region, found: LearnedNeed | undefined, rows: Rows | undefined): WholeDemand {
  const sent = rows?.sent.get(peer)?.units ?? 0
  const arriving = found === undefined ? 0 : Math.max(0, sent - found.received)
  const { units, need, cost, since } = found ?? { units: 0, need: 0, cost: 0, since: 0 }
  return { region: peer, units: units + arriving, need, cost, since: since * MICROS_PER_MS }
}

/** @param rest quota units of the key, except those last known to be held by unreachable regions */
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

/** Quota units that a region without calls keeps for its first call; 0 if they cannot grant cost 1. */
function reserveOf({ whole }: RegionalLimit): number {
  const reserve = UNITS / 100
  return portion(whole.burst, reserve) < MICRO ? 0 : reserve
}
