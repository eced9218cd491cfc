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
  /** The most states kept at once, including blocks; default a million. */
  readonly maxKeys?: number
  /**
   * What happens to calls of new keys when the store is full. Default: the call fails, so the failure policy of the limiter or rule
   * applies.
   */
  readonly onFull?: OnFull
  /**
   * The most bytes for the entries of sliding window logs, and the most for the records of holds (reservations): each may take this many.
   * Default 256 MiB. `onFull` also applies to calls of a log that cannot grow.
   */
  readonly maxBytes?: number
  /**
   * The most holds (reservations) that are remembered at once. Each hold is remembered until a minute after its end, even if it was settled
   * earlier. Default 100,000.
   */
  readonly maxHolds?: number
  /** The time of decisions; default the system's. */
  readonly clock?: Time
}

/** A store in this process, with methods that show its contents. */
export interface MemoryStore extends Store {
  /** Decides synchronously. `now` (microseconds since 1970) replaces the clock. */
  decideNow(group: CallGroup, now?: Micros): GroupVerdict
  /** How many states and blocks are stored now, including expired ones. */
  readonly size: number
  /**
   * The numbers of a state, in the order in which its algorithm's `codec` writes them; undefined if there is no state. For tests and
   * inspection.
   */
  stateOf(id: StateId): readonly number[] | undefined
  /** The present time of the store's clock, in microseconds since 1970. */
  now(): Micros
  /**
   * Replaces one state by the state that `program` computes from it, synchronously. Regions use it to move shares of a limit. Returns
   * false, with nothing changed, if the store has no room for the state.
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
 * A store that keeps states in this process: synchronous, exact, lost on restart and not shared with other processes. States are rows of
 * numbers in tables, found by 64-bit digests of their keys. So a key needs no object, timer or text. At most `maxKeys` states are kept. To
 * make room, the store drops only expired states, so no denied key is allowed early. If no state is expired, `onFull` says what happens to
 * new keys.
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
