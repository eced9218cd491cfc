import { applyGroup, type GroupCall } from '../../algorithms/group.ts'
import { LimiterError } from '../../errors/limiter-error.ts'
import { systemTime } from '../../time/system.ts'
import type { Micros } from '../../time/micros.ts'
import type { Time } from '../../time/time.ts'
import { type Call, type CallGroup, type CallOptions, type GroupVerdict, type StateId, type Store, StoreFailure } from '../store.ts'

export interface MemoryStoreOptions {
  /** Most states kept at once; default a million. */
  readonly maxKeys?: number
  readonly clock?: Time
}

export interface MemoryStore extends Store {
  consumeSync(group: CallGroup, options?: CallOptions): GroupVerdict
  /** States held now, late ones included. */
  readonly size: number
  /** The state as it stands, for inspection; undefined where there is none. */
  stateOf(id: StateId): unknown
}

interface Entry {
  readonly id: string
  state: unknown
  expiresAt: Micros
}

/** Entries looked at per new key when room is needed: keeps one insertion's cost bounded. */
const SWEEP = 8

/**
 * States in this process: synchronous, exact, gone on restart and not shared with other processes. It holds at most
 * `maxKeys` states. Only states that decide like none are ever dropped; when none of those is found, a new key is answered
 * `undecided` with a StoreFailure of kind `memory`, so the failure policy decides and no denied key comes back early.
 */
export function memoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  const { maxKeys = 1_000_000, clock = systemTime } = options
  if (!Number.isSafeInteger(maxKeys) || maxKeys < 1) {
    throw new LimiterError('INVALID_OPTIONS', `memoryStore: maxKeys is ${String(maxKeys)}, expected a whole number above 0`)
  }
  const entries = new Map<string, Entry>()
  let sweeping = entries.values()

  const makeRoom = (needed: number, now: Micros): boolean => {
    for (let looked = 0; looked < SWEEP + needed && entries.size > 0; looked += 1) {
      let next = sweeping.next()
      if (next.done === true) {
        sweeping = entries.values()
        next = sweeping.next()
      }
      const entry = next.value as Entry
      if (entry.expiresAt <= now) entries.delete(entry.id)
    }
    return entries.size + needed <= maxKeys
  }

  const load = (calls: readonly Call[]): { ids: string[]; group: GroupCall[]; states: unknown[] } => {
    const ids: string[] = []
    const group = calls.map(({ id, limit, cost }) => {
      const name = id.scope + id.key
      let slot = ids.indexOf(name)
      if (slot === -1) slot = ids.push(name) - 1
      return { slot, limit, cost }
    })
    return { ids, group, states: ids.map((name) => entries.get(name)?.state) }
  }

  const decide = (calls: readonly Call[], now: Micros, write: boolean): GroupVerdict => {
    const { ids, group, states } = load(calls)
    const result = applyGroup(states, group, now)
    if (write && result.writes.length > 0) {
      const added = result.writes.filter(({ slot }) => states[slot] === undefined).length
      if (added > 0 && !makeRoom(added, now)) return full(maxKeys)
      for (const { slot, state, expiresAt } of result.writes) {
        const id = ids[slot] as string
        const entry = entries.get(id)
        if (entry === undefined) entries.set(id, { id, state, expiresAt })
        else Object.assign(entry, { state, expiresAt })
      }
    }
    return { outcome: result.outcome, allowed: result.outcome === 'allowed', at: now, calls: result.calls, source: 'store' }
  }

  const timeOf = (callOptions?: CallOptions): Micros => callOptions?.now ?? clock.now()
  return {
    capabilities: { clock: 'caller', atomicBatch: 'any', sync: true },
    get size() {
      return entries.size
    },
    stateOf: ({ scope, key }) => entries.get(scope + key)?.state,
    consumeSync: (group, callOptions) => decide(group.calls, timeOf(callOptions), true),
    consume: async (groups, callOptions) => {
      const now = timeOf(callOptions)
      return groups.map((group) => decide(group.calls, now, true))
    },
    peek: async (groups, callOptions) => {
      const now = timeOf(callOptions)
      return groups.map((group) => decide(group.calls, now, false))
    },
    reset: async (ids: readonly StateId[]) => {
      for (const { scope, key } of ids) entries.delete(scope + key)
    },
    ready: async () => {},
    close: async () => entries.clear(),
  }
}

function full(maxKeys: number): GroupVerdict {
  const degraded = new StoreFailure('memory', 'no', `memory store: ${maxKeys} states are in use and none of those looked at is spent`)
  return { outcome: 'undecided', allowed: false, at: Number.NaN, calls: [], source: 'store', degraded }
}
