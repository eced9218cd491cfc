import { MICRO } from '../algorithms/decimal.ts'
import { eachBounded } from './bounded.ts'
import type { Held } from './cell.ts'
import { type Demand, giftsOf } from './demand.ts'
import { portion, type RegionalLimit, UNITS } from './limit.ts'
import type { Ledger } from './ledger.ts'
import type { Need, Position, Pull } from './messages.ts'
import { REQUEST_NEEDS } from './messages.ts'
import type { Meter, Metered } from './meter.ts'
import type { RegionNeeds } from './region-needs.ts'
import type { Region } from './roster.ts'
import type { MonotonicInstant } from '../time/time.ts'
import type { Rows } from './state.ts'

/** What a region has published of a key. */
interface Published {
  readonly metered: Metered
  readonly need: number
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

/** A change of less than this part is not published: rows that change often are not worth it. */
const DEAD_BAND = 0.1

/** @param source names this process: positions of another one count for nothing */
export function createNeeds(ledger: Ledger, meter: Meter, region: RegionNeeds, source: string): Needs {
  const published = new Map<Metered, Published>()
  let changes = 0
  return {
    async publish() {
      const counted = new Set(meter.keys())
      for (const metered of published.keys()) if (!counted.has(metered)) published.delete(metered)
      await eachBounded([...counted], async (metered) => {
        const { id, limit } = metered
        const sum = region.sumOf(metered)
        if (sum === undefined) return
        const need = Math.ceil(sum)
        const held = await ledger.held(id, limit)
        const before = published.get(metered)
        // Below its own share a key needs nothing of others, and costs no message.
        if (before === undefined && need <= held.units) return
        const same = before !== undefined && before.held.units === held.units && before.held.change === held.change
        if (same && Math.abs(need - before.need) <= DEAD_BAND * Math.max(need, before.need)) return
        changes += 1
        published.set(metered, { metered, need, held, changed: changes })
      })
    },
    since(to, known) {
      // What a peer knows of another process counts for nothing.
      const after = known?.run === source ? known.at : 0
      const found = [...published.values()].filter(({ changed }) => changed > after).sort((a, b) => a.changed - b.changed)
      const some = found.slice(0, REQUEST_NEEDS)
      const needs = some.map(({ metered: { id, limit }, need, held: { units, rows } }): Need => {
        const received = rows?.received.get(to)?.units ?? 0
        return { scope: id.scope.text, key: id.key, policy: limit.policy, need, units, received }
      })
      return { needs, after, needsAt: { run: source, at: some.length < found.length ? (some.at(-1) as Published).changed : changes } }
    },
  }
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
  readonly needs: Map<string, Need>
  readonly learnedAt: MonotonicInstant
}

/** The most processes of one peer whose needs are remembered. */
const MAX_SOURCES = 16

/**
 * @param maxKeys the most keys of one process of a peer that are remembered
 * @param keepMs for how long a process of a peer counts that does not ask any more
 */
export function createDonor(
  ledger: Ledger,
  meter: Meter,
  region: RegionNeeds,
  self: Region,
  { maxKeys, keepMs, monotonic }: { readonly maxKeys: number; readonly keepMs: number; readonly monotonic: () => MonotonicInstant },
): Donor {
  const known = new Map<Region, Map<string, Known>>()
  const keyOf = ({ scope, key }: Need): string => `${scope}\n${key}`
  /** What a peer needs. Each of its processes publishes what all of them need: the largest figure is the safe one. */
  const needsOf = (peer: Region): ReadonlyMap<string, Need> => {
    const [first, ...others] = known.get(peer)?.values() ?? []
    if (others.length === 0) return first?.needs ?? new Map()
    const all = new Map(first?.needs)
    for (const { needs } of others) {
      for (const [name, need] of needs) if (need.need >= (all.get(name)?.need ?? 0)) all.set(name, need)
    }
    return all
  }
  /** What a peer holds, or will when it has read what was sent. */
  const demandOf = (peer: Region, need: Need | undefined, rows: Rows | undefined): Demand => {
    const sent = rows?.sent.get(peer)?.units ?? 0
    const arriving = need === undefined ? 0 : Math.max(0, sent - need.received)
    return { region: peer, units: (need?.units ?? 0) + arriving, need: need?.need ?? 0 }
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
      const own = goesOn && after > 0 ? before.needs : new Map<string, Need>()
      for (const need of needs) {
        if (need.need === 0) own.delete(keyOf(need))
        else if (own.size < maxKeys || own.has(keyOf(need))) own.set(keyOf(need), need)
      }
      sources.delete(at.run)
      sources.set(at.run, { at, needs: own, learnedAt })
      if (sources.size > MAX_SOURCES) sources.delete(sources.keys().next().value as string)
      return at
    },
    async give(peer, peers) {
      const wantedOf = new Map(peers.map((one) => [one, needsOf(one)]))
      await eachBounded([...needsOf(peer)], async ([name, need]) => {
        const found = ledger.limitIn(need.scope, need.policy)
        if (found === undefined) return
        const { scope, whole, limit } = found
        const id = { scope, key: need.key }
        const own = meter.find(id) ?? meter.watch(id, whole, limit)
        if (own === undefined) return
        own.asked = 0
        const wanted = region.sumOf(own)
        // Sends nothing of a key before it knows what its own callers need, in all processes.
        if (wanted === undefined || !region.isWhole(own)) return
        const gift = ({ units, rows }: Held): number => {
          const demands = peers.map((one) => demandOf(one, wantedOf.get(one)?.get(name), rows))
          const gifts = giftsOf({ region: self, units, need: wanted }, demands, reserveOf(limit))
          return gifts.find(({ to }) => to === peer)?.units ?? 0
        }
        // Most keys have nothing to send. What is sent, is by what is held when it is: another process may send, too.
        if (gift(await ledger.held(id, limit)) > 0) await ledger.give({ id, limit: whole }, limit, peer, gift)
      })
    },
  }
}

/** Units for the first call of a region that has none; no units if they could not grant a call of cost 1. */
function reserveOf({ whole }: RegionalLimit): number {
  const reserve = UNITS / 100
  return portion(whole.burst, reserve) < MICRO ? 0 : reserve
}
