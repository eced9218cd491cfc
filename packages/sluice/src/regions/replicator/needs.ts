import { eachBounded } from '../bounded.ts'
import type { Held } from '../rights/cell.ts'
import type { HeldKeys } from './held-keys.ts'
import { type Need, type Position, REQUEST_NEEDS } from './messages.ts'
import type { Meter, Metered } from './meter.ts'
import type { RegionNeeds } from './region-needs.ts'
import type { Region } from '../rights/roster.ts'

interface Published {
  readonly metered: Metered
  readonly policy: string
  readonly need: number
  readonly cost: number
  readonly held: Held
  /** The number of the change with which this was published. */
  readonly changed: number
}

export interface Needs {
  /** Publishes the needs that have changed since the last call. */
  publish(): Promise<void>
  /** The needs that changed after the position that a peer knows, oldest changes first. */
  since(to: Region, known: Position | undefined): { readonly needs: readonly Need[]; readonly after: number; readonly needsAt: Position }
}

/** A smaller relative change of need or cost is not published. */
const DEAD_BAND = 0.1

/** Above this number, keys that the meter has forgotten are dropped, even if a peer has not read that their need is 0. */
const MAX_PUBLISHED = 100_000

/** @param source names this process; positions of other processes are ignored */
export function createNeeds(heldKeys: HeldKeys, meter: Meter, region: RegionNeeds, source: string): Needs {
  const published = new Map<Metered, Published>()
  /** Up to which change number each peer has read. */
  const readBy = new Map<Region, number>()
  let changes = 0
  return {
    async publish() {
      await heldKeys.refresh()
      const counted = new Set(meter.keys())
      const readByAll = Math.min(...readBy.values())
      for (const [metered, before] of published) {
        if (counted.has(metered)) continue
        // First a need of 0 is published: a peer that never read it would send units for ever.
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
        // A key whose quota covers its need requests nothing, so it is not published for the first time.
        if (before === undefined && need <= held.units) return
        const { policy } = limit
        const same = before?.policy === policy && before.held.units === held.units && before.held.change === held.change
        if (same && isNear(need, before.need) && isNear(cost, before.cost)) return
        changes += 1
        published.set(metered, { metered, policy, need, cost, held, changed: changes })
      })
    },
    since(to, known) {
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
