import { MICRO } from '../algorithms/decimal.ts'
import { type Demand, giftsOf } from './demand.ts'
import { portion, type RegionalLimit, UNITS } from './limit.ts'
import type { Ledger } from './ledger.ts'
import type { Need, Position, Pull } from './messages.ts'
import { REQUEST_NEEDS } from './messages.ts'
import type { Meter, Metered } from './meter.ts'
import type { Region } from './roster.ts'
import type { Rows } from './state.ts'

/** What a region has published of a key. */
interface Published {
  readonly metered: Metered
  readonly need: number
  readonly units: number
  readonly rows: Rows | undefined
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
export function createNeeds(ledger: Ledger, meter: Meter, source: string): Needs {
  const published = new Map<Metered, Published>()
  let changes = 0
  return {
    async publish() {
      const counted = new Set(meter.keys())
      for (const metered of published.keys()) if (!counted.has(metered)) published.delete(metered)
      for (const metered of counted) {
        const { id, limit } = metered
        if (metered.need === undefined) continue
        const need = Math.ceil(metered.need)
        const before = published.get(metered)
        const [units, rows] = [await ledger.unitsOf(id, limit), await ledger.rowsOf(id)]
        // Below its own share a key needs nothing of others, and costs no message.
        if (before === undefined && need <= units) continue
        const same = before !== undefined && before.units === units && before.rows === rows
        if (same && Math.abs(need - before.need) <= DEAD_BAND * Math.max(need, before.need)) continue
        changes += 1
        published.set(metered, { metered, need, units, rows, changed: changes })
      }
    },
    since(to, known) {
      // What a peer knows of another process counts for nothing.
      const after = known?.run === source ? known.at : 0
      const found = [...published.values()].filter(({ changed }) => changed > after).sort((a, b) => a.changed - b.changed)
      const some = found.slice(0, REQUEST_NEEDS)
      const needs = some.map(({ metered: { id, limit }, need, units, rows }): Need => {
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

/** @param maxKeys the most keys of one peer that are remembered */
export function createDonor(ledger: Ledger, meter: Meter, self: Region, maxKeys: number): Donor {
  const known = new Map<Region, { at: Position; readonly needs: Map<string, Need> }>()
  const nameOf = ({ scope, key }: Need): string => `${scope}\n${key}`
  /** What a peer holds, or will when it has read what was sent. */
  const demandOf = (peer: Region, need: Need | undefined, rows: Rows | undefined): Demand => {
    const sent = rows?.sent.get(peer)?.units ?? 0
    const arriving = need === undefined ? 0 : Math.max(0, sent - need.received)
    return { region: peer, units: (need?.units ?? 0) + arriving, need: need?.need ?? 0 }
  }
  return {
    learn(peer, { needs, after, needsAt: at }) {
      const before = known.get(peer)
      const goesOn = before?.at.run === at.run && before.at.at >= after
      if (!goesOn && after > 0) return undefined
      const own = goesOn && after > 0 ? before.needs : new Map<string, Need>()
      for (const need of needs) {
        if (need.need === 0) own.delete(nameOf(need))
        else if (own.size < maxKeys || own.has(nameOf(need))) own.set(nameOf(need), need)
      }
      known.set(peer, { at, needs: own })
      return at
    },
    async give(peer, peers) {
      for (const [name, need] of known.get(peer)?.needs ?? []) {
        const found = ledger.limitIn(need.scope, need.policy)
        if (found === undefined) continue
        const { scope, whole, limit } = found
        const id = { scope, key: need.key }
        const own = meter.find(id) ?? meter.watch(id, whole, limit)
        // Sends nothing of a key before it knows what its own callers need.
        if (own?.need === undefined) continue
        const [units, rows] = [await ledger.unitsOf(id, limit), await ledger.rowsOf(id)]
        const demands = peers.map((one) => demandOf(one, known.get(one)?.needs.get(name), rows))
        const gift = giftsOf({ region: self, units, need: own.need }, demands, reserveOf(limit)).find(({ to }) => to === peer)
        if (gift !== undefined) await ledger.give({ id, limit: whole }, limit, peer, gift.units)
      }
    },
  }
}

/** Units for the first call of a region that has none; no units if they could not grant a call of cost 1. */
function reserveOf({ whole }: RegionalLimit): number {
  const reserve = UNITS / 100
  return portion(whole.burst, reserve) < MICRO ? 0 : reserve
}
