import { applyGroup, type GroupCall, type GroupResult } from '../../algorithms/group.ts'
import { LimiterError } from '../../errors/limiter-error.ts'
import { refuseUnknown } from '../../errors/options.ts'
import { stateName } from '../../keys/encode.ts'
import { systemTime } from '../../time/system.ts'
import type { Micros } from '../../time/micros.ts'
import type { Time } from '../../time/time.ts'
import { createExpiryHeap, type Entry } from './expiry-heap.ts'
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

/** Keeps what a group changed; false where there is no room for the states it adds, and nothing was kept. */
type Write = (writes: GroupResult['writes'], ids: readonly string[], now: Micros) => boolean

/** Spent states dropped beyond those needed when a key is added: keeps the table from holding what is of no use. */
const SPARE = 2

/**
 * States in this process: synchronous, exact, gone on restart and not shared with other processes. It holds at most
 * `maxKeys` states. Only states that decide like none are ever dropped; when there is none of those, a new key is answered
 * `undecided` with a StoreFailure of kind `memory`, so the failure policy decides and no denied key comes back early.
 * @throws LimiterError INVALID_OPTIONS
 */
export function memoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  refuseUnknown('memoryStore', options, ['maxKeys', 'clock'])
  const { maxKeys = 1_000_000, clock = systemTime } = options
  if (!Number.isSafeInteger(maxKeys) || maxKeys < 1) {
    throw new LimiterError('INVALID_OPTIONS', `memoryStore: maxKeys is ${String(maxKeys)}, expected a whole number above 0`)
  }
  const entries = new Map<string, Entry>()
  const heap = createExpiryHeap()

  const drop = (entry: Entry): void => {
    entries.delete(entry.id)
    heap.remove(entry)
  }
  /** Drops spent states: a few at each new key, and as many as are needed where there are that many. */
  const makeRoom = (needed: number, now: Micros): void => {
    for (let dropped = 0; dropped < needed + SPARE || entries.size + needed > maxKeys; dropped += 1) {
      const { first } = heap
      if (first === undefined || first.expiresAt > now) break
      drop(first)
    }
  }

  /** @param read where a state is found: in the table, or in what a look has only thought of */
  const decide = (calls: readonly Call[], now: Micros, read: (id: string) => unknown, write: Write): GroupVerdict => {
    const ids: string[] = []
    const group = calls.map(({ id, limit, cost, phase }): GroupCall => {
      const name = stateName(id)
      let slot = ids.indexOf(name)
      if (slot === -1) slot = ids.push(name) - 1
      return { slot, limit, cost, phase }
    })
    const states = ids.map(read)
    const result = applyGroup(states, group, now)
    if (!write(result.writes, ids, now)) return full(maxKeys)
    return { outcome: result.outcome, allowed: result.outcome === 'allowed', at: now, calls: result.calls, source: 'store' }
  }
  const stored = (id: string): unknown => entries.get(id)?.state
  const store: Write = (writes, ids, now) => {
    const idOf = (slot: number): string => ids[slot] as string
    const added = (): number => writes.filter(({ slot }) => !entries.has(idOf(slot))).length
    if (added() > 0) {
      makeRoom(added(), now)
      // Counted again: a spent state of this very group may have gone.
      makeRoom(added(), now)
      if (entries.size + added() > maxKeys) return false
    }
    for (const { slot, limit, state } of writes) {
      const expiresAt = limit.algorithm.expiresAt(limit.plan, state)
      const entry = entries.get(idOf(slot))
      if (entry === undefined) {
        const made = { id: idOf(slot), state, expiresAt, place: 0 }
        entries.set(made.id, made)
        heap.add(made)
      } else {
        entry.state = state
        entry.expiresAt = expiresAt
        heap.moved(entry)
      }
    }
    return true
  }
  const look = (groups: readonly CallGroup[], now: Micros): GroupVerdict[] => {
    const thought = new Map<string, unknown>()
    const read = (id: string): unknown => thought.get(id) ?? stored(id)
    return groups.map(({ calls }) =>
      decide(calls, now, read, (writes, ids) => {
        for (const { slot, state } of writes) thought.set(ids[slot] as string, state)
        return true
      }),
    )
  }

  const timeOf = (callOptions?: CallOptions): Micros => callOptions?.now ?? clock.now()
  return {
    name: 'memory',
    capabilities: { clock: 'caller', atomicBatch: 'any', sync: true },
    get size() {
      return entries.size
    },
    stateOf: ({ scope, key }) => entries.get(stateName({ scope, key }))?.state,
    consumeSync: (group, callOptions) => decide(group.calls, timeOf(callOptions), stored, store),
    consume: async (groups, callOptions) => {
      const now = timeOf(callOptions)
      return groups.map((group) => decide(group.calls, now, stored, store))
    },
    peek: async (groups, callOptions) => look(groups, timeOf(callOptions)),
    reset: async (ids: readonly StateId[]) => {
      for (const { scope, key } of ids) {
        const entry = entries.get(stateName({ scope, key }))
        if (entry !== undefined) drop(entry)
      }
    },
    ready: async () => {},
    close: async () => {
      entries.clear()
      heap.clear()
    },
  }
}

function full(maxKeys: number): GroupVerdict {
  const degraded = new StoreFailure('memory', 'no', `memory store: ${maxKeys} states are in use and none is spent`)
  return { outcome: 'undecided', allowed: false, at: Number.NaN, calls: [], source: 'store', degraded }
}
