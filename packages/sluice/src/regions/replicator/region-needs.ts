import type { RegionPort } from '../../stores/region-port.ts'
import { nameOf } from '../../stores/store.ts'
import type { Micros } from '../../time/micros.ts'
import { UNITS } from '../rights/limit.ts'
import { REQUEST_NEEDS } from './messages.ts'
import type { Meter, Metered } from './meter.ts'
import { scopeLimit } from '../rights/scope-limit.ts'

/** What callers need in all processes of a region. */
export interface RegionNeeds {
  /** Publishes what the callers of this process need, and reads what the other processes published. */
  refresh(): Promise<void>
  /**
   * The need of a key as in `Demand`: the sum over all processes of the region whose needs are known. Undefined while this process has not
   * counted the key for a window.
   */
  sumOf(metered: Metered): number | undefined
  /** The units without which the largest call in any process cannot be granted. */
  costOf(metered: Metered): number
  /** Whether every process has counted the key for a window, so that the sum is complete. */
  isWhole(metered: Metered): boolean
  /** Removes what this process published. */
  end(): Promise<void>
}

/** What one process has published: for each key, by name, its need; undefined before the process has counted the key for a window. */
interface Other {
  readonly needs: ReadonlyMap<string, number | undefined>
  readonly costs: ReadonlyMap<string, number>
  /** Whether the process counts at least as many keys as it may publish, so that the entry may lack some. */
  readonly full: boolean
}

/** What a process publishes on the server. It is short, because each process reads the entries of all others twice in a period. */
interface Entry {
  readonly version: 1
  readonly full: boolean
  readonly keys: readonly (readonly [scope: string, key: string, policy: string, need: number | null, wanted: 0 | 1, cost: number])[]
}

/** The most keys that a process publishes. */
const MAX_KEYS = REQUEST_NEEDS
/** The most processes of a region whose needs are summed. */
const MAX_PROCESSES = 64
/** A key is wanted for this many windows after a peer requested it. */
const RECENTLY = 4

/** The needs of a region whose store only this process has. */
export const ownNeeds: RegionNeeds = {
  refresh: async () => {},
  sumOf: ({ need }) => need,
  costOf: unitsOfCost,
  isWhole: ({ need }) => need !== undefined,
  end: async () => {},
}

/**
 * @param name names this process
 * @param keepFor microseconds for which what a process published counts
 */
export function createRegionNeeds(share: RegionPort['shareNeeds'], meter: Meter, name: string, keepFor: Micros): RegionNeeds {
  let others: readonly Other[] | undefined
  let own = otherOf({ version: 1, full: false, keys: [] })
  /**
   * Whether a process publishes as many keys as it may, and this key is not one of them. Then its need of the key is not known and counts
   * as 0.
   */
  const leavesOut = ({ needs, full }: Other, key: string): boolean => full && !needs.has(key)
  return {
    async refresh() {
      const keys = [...meter.keys()].slice(0, MAX_KEYS)
      const entry: Entry = { version: 1, full: keys.length === MAX_KEYS, keys: keys.map(keyOf) }
      own = otherOf(entry)
      const found = (await share(name, entry, keepFor, MAX_PROCESSES)).filter(isEntry)
      others = found.map(otherOf)
      // Each process also counts the keys that other processes want, because the sum is known only if all count them.
      for (const { keys: wanted } of found) {
        for (const [scope, key, policy, need, isWanted] of wanted) {
          const id = { scope: { text: scope }, key }
          if (isWanted === 0) continue
          const known = scopeLimit(scope, policy)
          const metered = meter.find(id) ?? (known && meter.watch(id, known.whole, known.limit))
          if (metered === undefined) continue
          metered.idle = 0
          // A process that needs something of a key was called with it. So the limit that it publishes is that of a call.
          if (known !== undefined && need !== null && need > 0 && !metered.called)
            Object.assign(metered, { whole: known.whole, limit: known.limit, called: true })
        }
      }
    },
    sumOf({ id, need }) {
      if (need === undefined) return undefined
      const key = nameOf(id)
      return Math.min(
        UNITS,
        (others ?? []).reduce((sum, { needs }) => sum + (needs.get(key) ?? 0), need),
      )
    },
    costOf(metered) {
      const key = nameOf(metered.id)
      return Math.max(unitsOfCost(metered), ...(others ?? []).map(({ costs }) => costs.get(key) ?? 0))
    },
    isWhole({ id, need }) {
      const key = nameOf(id)
      if (need === undefined || others === undefined || leavesOut(own, key)) return need !== undefined && others !== undefined
      return others.every((other) => other.needs.get(key) !== undefined || leavesOut(other, key))
    },
    end: async () => void (await share(name, undefined, keepFor, MAX_PROCESSES)),
  }
}

/** The units without which the largest call of this process cannot be granted. */
function unitsOfCost({ peak, limit }: Metered): number {
  return Math.min(UNITS, Math.ceil((peak * UNITS) / limit.whole.burst))
}

function keyOf(metered: Metered): Entry['keys'][number] {
  const { id, limit, need, requested } = metered
  const isWanted = (need ?? 0) > 0 || requested < RECENTLY
  return [id.scope.text, id.key, limit.policy, need === undefined ? null : Math.ceil(need), isWanted ? 1 : 0, unitsOfCost(metered)]
}

/** Whether this process can read the entry. Entries of another version are left out. */
function isEntry(entry: unknown): entry is Entry {
  return (entry as Partial<Entry> | null)?.version === 1
}

function otherOf({ full, keys }: Entry): Other {
  const named = keys.map(([scope, key, , need, , cost]) => [nameOf({ scope: { text: scope }, key }), need ?? undefined, cost] as const)
  return {
    full,
    needs: new Map(named.map(([name, need]) => [name, need])),
    costs: new Map(named.map(([name, , cost]) => [name, cost])),
  }
}
