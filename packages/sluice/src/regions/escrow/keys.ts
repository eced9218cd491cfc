import type { Scope, StateId } from '../../stores/store.ts'
import { createChangeLog } from '../change-log.ts'
import type { Entry } from './entry.ts'

/** Keys of which units were sent or received, in the order of their last changes. */
export interface EscrowKeys {
  readonly size: number
  /** The number of the latest change. */
  readonly last: number
  find(id: StateId): Entry | undefined
  all(): Iterable<Entry>
  /** The keys that changed after `cursor`, oldest changes first. */
  after(cursor: number, most: number): readonly Entry[]
  add(entry: Entry): void
  change(entry: Entry): void
  drop(entry: Entry): void
}

export function createEscrowKeys(): EscrowKeys {
  const scopes = new Map<string, Map<string, Entry>>()
  const log = createChangeLog<Entry>()
  // A map lookup takes a tenth of the time of a decision.
  let lastScope: Scope | undefined
  let lastKey = ''
  let lastEntry: Entry | undefined
  return {
    get size() {
      return log.size
    },
    get last() {
      return log.last
    },
    find({ scope, key }) {
      if (key === lastKey && scope === lastScope) return lastEntry
      lastEntry = scopes.get(scope.text)?.get(key)
      lastScope = scope
      lastKey = key
      return lastEntry
    },
    *all() {
      for (const keys of scopes.values()) yield* keys.values()
    },
    after: (cursor, most) => log.after(cursor, most),
    add(entry) {
      const { scope, key } = entry.id
      const keys = scopes.get(scope.text) ?? new Map<string, Entry>()
      scopes.set(scope.text, keys.set(key, entry))
      lastScope = undefined
      log.change(entry, true)
    },
    change: (entry) => log.change(entry, false),
    drop(entry) {
      scopes.get(entry.id.scope.text)?.delete(entry.id.key)
      lastScope = undefined
      log.remove(entry)
    },
  }
}
