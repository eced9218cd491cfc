import type { RegionPort } from '../../stores/region-port.ts'
import { nameOf } from '../../stores/store.ts'
import type { Micros } from '../../time/micros.ts'
import { UNITS } from '../rights/limit.ts'
import { REQUEST_NEEDS } from './messages.ts'
import type { Meter, Metered } from './meter.ts'
import { scopeLimit } from '../rights/scope-limit.ts'

export interface RegionNeeds {
  /** Publishes this process's needs, and reads those of the others. */
  refresh(): Promise<void>
  /** The key's need (see `Demand`) in all processes, at most UNITS; undefined before its first window in this process has ended. */
  sumOf(metered: Metered): number | undefined
  /** The units that the largest call in any process needs. */
  costOf(metered: Metered): number
  /** Whether the sum is complete: all processes have counted the key. */
  isWhole(metered: Metered): boolean
  /** Removes what this process published. */
  end(): Promise<void>
}

/** What one process published, by key. A need is undefined until the process has counted the key for a window. */
interface Other {
  readonly needs: ReadonlyMap<string, number | undefined>
  readonly costs: ReadonlyMap<string, number>
  /** Whether the entry is full, so that it may lack keys. */
  readonly full: boolean
}

/** Published on the server. Short, because each process reads all others' entries twice a period. */
interface Entry {
  readonly version: 1
  readonly full: boolean
  readonly keys: readonly (readonly [scope: string, key: string, policy: string, need: number | null, wanted: 0 | 1, cost: number])[]
}

const MAX_KEYS = REQUEST_NEEDS
const MAX_PROCESSES = 64
/** Windows for which a key that a peer requested is wanted. */
const RECENTLY = 4

/** The needs of a region whose store only this process has. */
export const ownNeeds: RegionNeeds = {
  refresh: async () => {},
  sumOf: ({ need }) => need,
  costOf: unitsOfCost,
  isWhole: ({ need }) => need !== undefined,
  end: async () => {},
}

/** @param keepFor microseconds for which published needs count */
export function createRegionNeeds(share: RegionPort['shareNeeds'], meter: Meter, name: string, keepFor: Micros): RegionNeeds {
  let others: readonly Other[] | undefined
  let own = otherOf({ version: 1, full: false, keys: [] })
  /** Whether the process published the maximum number of keys without this one. The key's need is then unknown, and counts as 0. */
  const leavesOut = ({ needs, full }: Other, key: string): boolean => full && !needs.has(key)
  return {
    async refresh() {
      const keys = [...meter.keys()].slice(0, MAX_KEYS)
      const entry: Entry = { version: 1, full: keys.length === MAX_KEYS, keys: keys.map(keyOf) }
      own = otherOf(entry)
      const found = (await share(name, entry, keepFor, MAX_PROCESSES)).filter(isEntry)
      others = found.map(otherOf)
      // A sum is known only if all processes count the key. So this process also counts keys that others want.
      for (const { keys: wanted } of found) {
        for (const [scope, key, policy, need, isWanted] of wanted) {
          const id = { scope: { text: scope }, key }
          if (isWanted === 0) continue
          const known = scopeLimit(scope, policy)
          const metered = meter.find(id) ?? (known && meter.watch(id, known.whole, known.limit))
          if (metered === undefined) continue
          metered.idle = 0
          // A process that reports a need was called, so the limit in its entry is that of a call. This limit replaces one known only from
          // a peer.
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

function unitsOfCost({ peak, limit }: Metered): number {
  return Math.min(UNITS, Math.ceil((peak * UNITS) / limit.whole.burst))
}

function keyOf(metered: Metered): Entry['keys'][number] {
  const { id, limit, need, requested } = metered
  const isWanted = (need ?? 0) > 0 || requested < RECENTLY
  return [id.scope.text, id.key, limit.policy, need === undefined ? null : Math.ceil(need), isWanted ? 1 : 0, unitsOfCost(metered)]
}

/** Entries of another version are ignored. */
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
