import { MICRO } from '../algorithms/decimal.ts'
import { eachBounded } from './bounded.ts'
import type { Held } from './cell.ts'
import { type Gift, giftsOf, takesTurns, type WholeDemand, wholeGiftOf } from './demand.ts'
import { portion, type RegionalLimit, UNITS } from './limit.ts'
import type { HeldKeys } from './held-keys.ts'
import type { Ledger } from './ledger.ts'
import type { Need, Position, Pull } from './messages.ts'
import { REQUEST_NEEDS } from './messages.ts'
import type { Meter, Metered } from './meter.ts'
import type { RegionNeeds } from './region-needs.ts'
import type { Region } from './roster.ts'
import { MICROS_PER_MS } from '../time/micros.ts'
import type { MonotonicInstant } from '../time/time.ts'
import type { Rows } from './state.ts'

/** What a region has published of a key. */
interface Published {
  readonly metered: Metered
  readonly policy: string
  readonly need: number
  readonly cost: number
  readonly held: Held
  /** The number of the change. */
  readonly changed: number
}

/** What a region publishes of its demand. */
export interface Needs {
  /** Publishes what has changed since it was last called. */
  publish(): Promise<void>
  /** What changed since the position up to which a peer knows it, the oldest changes first. */
  since(to: Region, known: Position | undefined): { readonly needs: readonly Need[]; readonly after: number; readonly needsAt: Position }
}

/** If only the need of a key changed, by at most this fraction of it, it is not published: small changes are not worth a message. */
const DEAD_BAND = 0.1

/** Beyond so many keys, those that are not counted any more are dropped, although a peer may not have read that. */
const MAX_PUBLISHED = 100_000

/** @param source names this process: positions of another one count for nothing */
export function createNeeds(heldKeys: HeldKeys, meter: Meter, region: RegionNeeds, source: string): Needs {
  const published = new Map<Metered, Published>()
  /** Up to which change each peer has read. */
  const readBy = new Map<Region, number>()
  let changes = 0
  return {
    async publish() {
      await heldKeys.refresh()
      const counted = new Set(meter.keys())
      const readByAll = Math.min(...readBy.values())
      for (const [metered, before] of published) {
        if (counted.has(metered)) continue
        // A peer that has not read that nothing is needed any more would send units for ever.
        if (before.need > 0) published.set(metered, { ...before, need: 0, changed: (changes += 1) })
        else if (before.changed <= readByAll || published.size > MAX_PUBLISHED) published.delete(metered)
      }
      await eachBounded([...counted], async (metered) => {
        const { id, limit } = metered
        const sum = region.sumOf(metered)
        if (sum === undefined) return
        const need = Math.ceil(sum)
        const cost = region.costOf(metered)
        const held = await heldKeys.of(id, limit)
        const before = published.get(metered)
        // Below its own share a key needs nothing of others, and costs no message.
        if (before === undefined && need <= held.units) return
        const { policy } = limit
        const same = before?.policy === policy && before.held.units === held.units && before.held.change === held.change
        if (same && isNear(need, before.need) && isNear(cost, before.cost)) return
        changes += 1
        published.set(metered, { metered, policy, need, cost, held, changed: changes })
      })
    },
    since(to, known) {
      // What a peer knows of another process counts for nothing.
      const after = known?.run === source ? known.at : 0
      readBy.set(to, after)
      const found = [...published.values()].filter(({ changed }) => changed > after).sort((a, b) => a.changed - b.changed)
      const some = found.slice(0, REQUEST_NEEDS)
      const needs = some.map(({ metered: { id }, policy, need, cost, held: { units, rows } }): Need => {
        const received = rows?.received.get(to)?.units ?? 0
        return { scope: id.scope.text, key: id.key, policy, need, cost, units, received }
      })
      return { needs, after, needsAt: { run: source, at: some.length < found.length ? (some.at(-1) as Published).changed : changes } }
    },
  }
}

function isNear(one: number, other: number): boolean {
  return Math.abs(one - other) <= DEAD_BAND * Math.max(one, other)
}

/** What a region knows of its peers' demand, and what it sends by it. */
export interface Donor {
  /** Takes what a peer needs. Returns how far that is known: undefined if what came before is missing. */
  learn(peer: Region, pull: Pick<Pull, 'needs' | 'after' | 'needsAt'>): Position | undefined
  /**
   * Sends a peer what it lacks and this region can spare (R7): at most one row for each key.
   * @param peers those whose figures are recent
   */
  give(peer: Region, peers: readonly Region[]): Promise<void>
}

/** What one process of a peer has published. */
interface Known {
  readonly at: Position
  readonly needs: Map<string, LearnedNeed>
  readonly learnedAt: MonotonicInstant
}

interface LearnedNeed extends Need {
  /** Since when the peer has less than its largest call costs. */
  readonly since: MonotonicInstant
}

/** The most keys of which units are sent before one answer: the peer waits for it. What is left is sent at its next pull. */
const MAX_GIFTS = 250
/** The most processes of one peer whose needs are remembered. */
const MAX_SOURCES = 16

/**
 * @param maxKeys the most keys of one process of a peer that are remembered
 * @param keepMs for how long a process of a peer counts that makes no requests any more
 */
export function createDonor(
  ledger: Ledger,
  heldKeys: HeldKeys,
  meter: Meter,
  region: RegionNeeds,
  self: Region,
  { maxKeys, keepMs, monotonic }: { readonly maxKeys: number; readonly keepMs: number; readonly monotonic: () => MonotonicInstant },
): Donor {
  const known = new Map<Region, Map<string, Known>>()
  const keyOf = ({ scope, key }: Need): string => `${scope}\n${key}`
  /** What a peer needs. Each of its processes publishes what all of them need: the largest figure is the safe one. */
  const needsOf = (peer: Region): ReadonlyMap<string, LearnedNeed> => {
    const [first, ...others] = known.get(peer)?.values() ?? []
    if (others.length === 0) return first?.needs ?? new Map()
    const all = new Map(first?.needs)
    for (const { needs } of others) {
      for (const [name, need] of needs) if (need.need >= (all.get(name)?.need ?? 0)) all.set(name, need)
    }
    return all
  }
  /** What a peer holds, or will when it has read what was sent. */
  const demandOf = (peer: Region, found: LearnedNeed | undefined, rows: Rows | undefined): WholeDemand => {
    const sent = rows?.sent.get(peer)?.units ?? 0
    const arriving = found === undefined ? 0 : Math.max(0, sent - found.received)
    const { units, need, cost, since } = found ?? { units: 0, need: 0, cost: 0, since: 0 }
    return { region: peer, units: units + arriving, need, cost, since: since * MICROS_PER_MS }
  }
  return {
    learn(peer, { needs, after, needsAt: at }) {
      const sources = known.get(peer) ?? new Map<string, Known>()
      known.set(peer, sources)
      const learnedAt = monotonic()
      for (const [source, one] of sources) if (learnedAt - one.learnedAt > keepMs) sources.delete(source)
      const before = sources.get(at.run)
      const goesOn = before !== undefined && before.at.at >= after
      if (!goesOn && after > 0) return undefined
      const own = goesOn && after > 0 ? before.needs : new Map<string, LearnedNeed>()
      for (const need of needs) {
        if (need.need === 0) own.delete(keyOf(need))
        else if (own.size < maxKeys || own.has(keyOf(need))) {
          const last = before?.needs.get(keyOf(need))
          const waited = last !== undefined && last.units < last.cost
          own.set(keyOf(need), { ...need, since: waited ? last.since : learnedAt })
        }
      }
      sources.delete(at.run)
      sources.set(at.run, { at, needs: own, learnedAt })
      if (sources.size > MAX_SOURCES) sources.delete(sources.keys().next().value as string)
      return at
    },
    async give(peer, peers) {
      const wantedOf = new Map(peers.map((one) => [one, needsOf(one)]))
      let room = MAX_GIFTS
      await eachBounded([...needsOf(peer)], async ([name, need]) => {
        const found = ledger.limitIn({ scope: { text: need.scope }, key: need.key }, need.policy)
        if (found === undefined) return
        const { scope, whole } = found
        const id = { scope, key: need.key }
        const own = meter.find(id) ?? meter.watch(id, whole, found.limit)
        if (own === undefined) return
        if (!own.called) Object.assign(own, { whole, limit: found.limit })
        own.requested = 0
        const wanted = region.sumOf(own)
        // Sends nothing of a key before it knows what its own callers need, in all processes.
        if (wanted === undefined || !region.isWhole(own)) return
        const { limit } = own
        const gift = (held: Held): number => {
          const demands = peers.map((one) => demandOf(one, wantedOf.get(one)?.get(name), held.rows))
          const gifts = giftsIn(
            held,
            { region: self, units: held.units, need: wanted, cost: region.costOf(own) },
            demands,
            own,
            monotonic(),
          )
          return gifts.find(({ to }) => to === peer)?.units ?? 0
        }
        // Most keys have nothing to send. What is sent, is by what is held when it is: another process may send, too.
        if (gift(await heldKeys.of(id, limit)) === 0 || room === 0) return
        room -= 1
        heldKeys.forget(id)
        await ledger.lend(id, need.policy, peer, gift)
      })
    },
  }
}

/** What a region sends of a key to its peers. */
function giftsIn(
  { whole }: Held,
  own: Omit<WholeDemand, 'since'>,
  peers: readonly WholeDemand[],
  metered: Metered,
  at: MonotonicInstant,
): readonly Gift[] {
  if (metered.units === undefined || own.units > metered.units) metered.heldSince = at
  metered.units = own.units
  const { limit, heldSince } = metered
  if (!whole && !takesTurns([own, ...peers])) return giftsOf(own, peers, reserveOf(limit))
  const refill = (limit.whole.emptyBefore.micros * own.cost) / UNITS
  const gift = wholeGiftOf({ ...own, since: heldSince * MICROS_PER_MS }, peers, refill, at * MICROS_PER_MS)
  return gift === undefined ? [] : [gift]
}

/** Units for the first call of a region that has none; no units if they could not grant a call of cost 1. */
function reserveOf({ whole }: RegionalLimit): number {
  const reserve = UNITS / 100
  return portion(whole.burst, reserve) < MICRO ? 0 : reserve
}
