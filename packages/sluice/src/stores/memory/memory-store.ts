import { checkOptions, CLOCK, COUNT, type Form, oneOf } from '../../errors/options.ts'
import { systemSecret, systemTime } from '../../time/system.ts'
import type { Micros } from '../../time/micros.ts'
import type { Time } from '../../time/time.ts'
import type { Call, CallGroup, CallOptions, GroupVerdict, StateId, Store } from '../store.ts'
import { applyChanges } from './change.ts'
import { decideGroup, decideOne, type OnFull } from './decide.ts'
import { Room } from './room.ts'
import type { DryRun } from './slots.ts'

export interface MemoryStoreOptions {
  /** The most states kept at once, blocks included; default a million. */
  readonly maxKeys?: number
  /** The decision for new keys when all states are in use. Default: none, so the failure policy of the limiter or rule applies. */
  readonly onFull?: OnFull
  /** The most bytes for the entries of logs; default 256 MiB. A log that cannot grow follows `onFull`. */
  readonly maxBytes?: number
  readonly clock?: Time
}

export interface MemoryStore extends Store {
  decideNow(group: CallGroup, now?: Micros): GroupVerdict
  /** States and blocks held now, including expired ones. */
  readonly size: number
  /** The numbers of a state (its codec's), for inspection; undefined if there is no state. */
  stateOf(id: StateId): readonly number[] | undefined
}

const FORMS: Readonly<Record<string, Form>> = { maxKeys: COUNT, onFull: oneOf('allow', 'deny', 'shared'), maxBytes: COUNT, clock: CLOCK }

/**
 * States in this process: synchronous, exact, lost on restart and not shared with other processes. They are rows of numbers in tables,
 * under 64-bit digests: no object, timer or text per key. At most `maxKeys` states are held. Only expired states are ever dropped; if
 * there are none, new keys follow `onFull`, so no denied key comes back early.
 * @throws LimiterError INVALID_OPTIONS
 */
export function memoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  checkOptions('memoryStore', options, FORMS)
  const { maxKeys = 1_000_000, maxBytes = 2 ** 28, onFull, clock = systemTime } = options
  const fresh = (): Room => new Room(maxKeys, maxBytes, systemSecret)
  let room = fresh()

  const decide = ({ calls }: CallGroup, now: Micros): GroupVerdict => {
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
    capabilities: { clock: 'caller', atomicBatch: 'any', changes: ['adjust', 'block', 'unblock', 'reset'], sync: true },
    get size() {
      return room.size
    },
    stateOf: (id) => room.stateOf(id),
    decide: async (groups, callOptions) => {
      const now = timeOf(callOptions)
      if (callOptions?.charge !== false) return groups.map((group) => decide(group, now))
      const dryRun: DryRun = { states: new Map(), added: 0 }
      return groups.map(({ calls }) => decideGroup(room, calls, now, onFull, dryRun))
    },
    decideNow: (group, now = clock.now()) => decide(group, now),
    change: async (changes, callOptions) => applyChanges(room, changes, timeOf(callOptions)),
    ready: async () => {},
    close: async () => {
      room = fresh()
    },
  }
}
