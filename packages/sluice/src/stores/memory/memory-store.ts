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
  /** The most states kept at once, blocks included; default a million. */
  readonly maxKeys?: number
  /** The decision for new keys when all states are in use. Default: none, so the failure policy of the limiter or rule applies. */
  readonly onFull?: OnFull
  /** The most bytes for the entries of logs; default 256 MiB, and as many for records of holds. A log that cannot grow follows `onFull`. */
  readonly maxBytes?: number
  /** The most holds that are remembered at once: open ones, and those that ended at most a minute ago. Default 100,000. */
  readonly maxHolds?: number
  /** The time of decisions; default the system's. */
  readonly clock?: Time
}

/** A store in this process, with what it can tell about itself. */
export interface MemoryStore extends Store {
  /** Decides at once, without a promise. `now` (microseconds since 1970) replaces the clock. */
  decideNow(group: CallGroup, now?: Micros): GroupVerdict
  /** States and blocks held now, including expired ones. */
  readonly size: number
  /** The numbers of a state, in the order of its codec, for inspection; undefined if there is no state. */
  stateOf(id: StateId): readonly number[] | undefined
  /** The time by which it decides, in microseconds since 1970. */
  now(): Micros
  /**
   * Replaces one state by what a program makes of it, at once, for rights that are sent between regions. Returns false, with nothing
   * changed, if there is no room for the state.
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
 * numbers in tables, under 64-bit digests: no object, timer or text per key. At most `maxKeys` states are kept. Only expired states are
 * dropped. If none is expired, `onFull` decides new keys, so no denied key comes back early.
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
