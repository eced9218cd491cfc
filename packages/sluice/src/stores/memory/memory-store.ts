import type { AnyLimit } from '../../algorithms/algorithm.ts'
import { checkOptions, CLOCK, COUNT, type Form, oneOf } from '../../errors/options.ts'
import { systemSecret, systemTime } from '../../time/system.ts'
import type { Micros } from '../../time/micros.ts'
import type { Time } from '../../time/time.ts'
import { callsOf } from '../group-options.ts'
import type { Call, CallGroup, CallOptions, GroupVerdict, StateId, StateProgram, Store } from '../store.ts'
import { applyChanges, rewriteOne } from './change.ts'
import { decideGroup, decideOne, type OnFull } from './decide.ts'
import { Room } from './room.ts'
import type { DryRun } from './slots.ts'

/** Options of `memoryStore`. */
export interface MemoryStoreOptions {
  /** The most states and blocks kept at once; default a million. */
  readonly maxKeys?: number | undefined
  /** What happens to calls of new keys when the store is full. Default: the failure policy applies. */
  readonly onFull?: OnFull | undefined
  /**
   * The most bytes for each of: entries of sliding window logs, slots of concurrency limits, records of holds (reservations). Default 256
   * MiB. `onFull` also applies to calls of a log that cannot grow.
   */
  readonly maxBytes?: number | undefined
  /** The most holds (reservations) that are remembered, each until a minute after its end. Default 100,000. */
  readonly maxHolds?: number | undefined
  /** The time of decisions; default the system's. */
  readonly clock?: Time | undefined
}

/** A store in this process. */
export interface MemoryStore extends Store {
  /** `now` (microseconds since 1970) replaces the clock. */
  decideNow(group: CallGroup, now?: Micros): GroupVerdict
  /** The number of states and blocks, including expired ones. */
  readonly size: number
  /** For tests and inspection. The numbers as the algorithm's `codec` writes them; undefined if there is no state. */
  stateOf(id: StateId): readonly number[] | undefined
  /** Of the store's clock, in microseconds since 1970. */
  now(): Micros
  /**
   * Replaces one state by what `program` computes, synchronously. Returns false, with nothing changed, if there is no room.
   * @param algorithm of the state
   */
  rewrite(id: StateId, algorithm: AnyLimit['algorithm'], program: StateProgram): boolean
}

const FORMS: Readonly<Record<string, Form>> = {
  maxKeys: COUNT,
  onFull: oneOf('allow', 'deny', 'shared'),
  maxBytes: COUNT,
  maxHolds: COUNT,
  clock: CLOCK,
}

const CHANGES = ['adjust', 'leave', 'release', 'settle', 'extend', 'block', 'unblock', 'reset'] as const

/**
 * Keeps states in this process: exact, lost on restart, not shared with other processes. To make room, it drops only expired states, so
 * that no denied key is allowed early.
 * @throws LimiterError INVALID_OPTIONS
 */
export function memoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  checkOptions('memoryStore', options, FORMS)
  const { maxKeys = 1_000_000, maxBytes = 2 ** 28, maxHolds = 100_000, onFull, clock = systemTime } = options
  const fresh = (): Room => new Room(maxKeys, { maxBytes, maxHolds }, systemSecret)
  let room = fresh()

  const decide = (group: CallGroup, now: Micros): GroupVerdict => {
    if (group.options !== undefined) return decideGroup(room, callsOf(group), now, onFull)
    const { calls } = group
    const first = calls[0] as Call
    if (calls.length === 1 && room.blockOf(first.id, now) === 0) {
      const verdict = decideOne(room, first, now)
      if (verdict !== undefined) return verdict
    }
    return decideGroup(room, calls, now, onFull)
  }
  const timeOf = (callOptions?: CallOptions): Micros => callOptions?.now ?? clock.now()
  return {
    name: 'memory',
    capabilities: { clock: 'caller', atomicBatch: 'any', changes: CHANGES, groupOptions: ['maxWait', 'hold'], sync: true },
    get size() {
      return room.size
    },
    stateOf: (id) => room.stateOf(id),
    now: () => clock.now(),
    rewrite: (id, algorithm, program) => rewriteOne(room, id, algorithm, clock.now(), program),
    decide: async (groups, callOptions) => {
      const now = timeOf(callOptions)
      if (callOptions?.charge !== false) return groups.map((group) => decide(group, now))
      const dryRun: DryRun = { states: new Map(), added: 0, dropAt: Math.min(now, clock.now()) }
      return groups.map((group) => decideGroup(room, callsOf(group), now, onFull, dryRun))
    },
    decideNow: (group, now = clock.now()) => decide(group, now),
    change: async (changes, callOptions) => applyChanges(room, changes, timeOf(callOptions)),
    ready: async () => {},
    close: async () => {
      room = fresh()
    },
  }
}
