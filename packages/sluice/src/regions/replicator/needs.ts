import { eachBounded } from '../bounded.ts'
import type { Held } from '../rights/cell.ts'
import type { HeldKeys } from './held-keys.ts'
import { type Need, type Position, REQUEST_NEEDS } from './messages.ts'
import type { Meter, Metered } from './meter.ts'
import type { RegionNeeds } from './region-needs.ts'
import type { Region } from '../rights/roster.ts'

/** What this region has published of its need of a key. */
interface Published {
  readonly metered: Metered
  readonly policy: string
  readonly need: number
  readonly cost: number
  readonly held: Held
  /** The number of the change with which this was published. */
  readonly changed: number
}

/** What this region publishes of its needs, for its peers to read. */
export interface Needs {
  /** Publishes the needs that have changed since the last call. */
  publish(): Promise<void>
  /** The needs that changed after the position up to which a peer knows them, the oldest changes first. */
  since(to: Region, known: Position | undefined): { readonly needs: readonly Need[]; readonly after: number; readonly needsAt: Position }
}

/**
 * If need and cost of a key have changed by at most this fraction, and nothing else has changed, they are not published again. Such a
 * change is not worth a message.
 */
const DEAD_BAND = 0.1

/**
 * At most about so many keys are published. Above this number, keys whose calls are not counted any more are dropped, even if some peer has
 * not read yet that nothing is needed.
 */
const MAX_PUBLISHED = 100_000

/** @param source names this process. Positions with another name belong to another process, and are ignored */
export function createNeeds(heldKeys: HeldKeys, meter: Meter, region: RegionNeeds, source: string): Needs {
  const published = new Map<Metered, Published>()
  /** The number of the change up to which each peer has read. */
  const readBy = new Map<Region, number>()
  let changes = 0
  return {
    async publish() {
      await heldKeys.refresh()
      const counted = new Set(meter.keys())
      const readByAll = Math.min(...readBy.values())
      for (const [metered, before] of published) {
        if (counted.has(metered)) continue
        // Before a key is dropped, a need of 0 is published: a peer that did not read of it would send units of the key for ever.
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
        // If the region holds enough units of a key for its need, the key needs nothing of other regions, and is not published.
        if (before === undefined && need <= held.units) return
        const { policy } = limit
        const same = before?.policy === policy && before.held.units === held.units && before.held.change === held.change
        if (same && isNear(need, before.need) && isNear(cost, before.cost)) return
        changes += 1
        published.set(metered, { metered, policy, need, cost, held, changed: changes })
      })
    },
    since(to, known) {
      // A position of another process is ignored, so all needs are sent.
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
