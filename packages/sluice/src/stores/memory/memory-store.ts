import type { MicroTokens } from '../../algorithms/algorithm.ts'
import { checkOptions, CLOCK, COUNT, type Form, oneOf } from '../../errors/options.ts'
import { systemSecret, systemTime } from '../../time/system.ts'
import type { Micros } from '../../time/micros.ts'
import type { Time } from '../../time/time.ts'
import type { AdjustOptions, Call, CallGroup, CallOptions, GroupVerdict, StateId, Store, Verdict } from '../store.ts'
import { decideGroup, type Thought } from './decide-group.ts'
import { decideOne } from './decide-one.ts'
import type { OnFull } from './pressure.ts'
import { Room } from './room.ts'

export interface MemoryStoreOptions {
  /** The most states kept at once, blocks included; default a million. */
  readonly maxKeys?: number
  /** The decision for new keys when all states are in use. Default: `undecided`, so the failure policy of the limiter or rule applies. */
  readonly onFull?: OnFull
  /** The most bytes for the entries of logs; default 256 MiB. A log that cannot grow follows `onFull`. */
  readonly maxBytes?: number
  readonly clock?: Time
}

export interface MemoryStore extends Store {
  consumeSync(group: CallGroup, options?: CallOptions): GroupVerdict
  adjust(calls: readonly Call[], amounts: readonly MicroTokens[], options?: AdjustOptions): Promise<void>
  block(ids: readonly StateId[], duration: Micros | null, options?: CallOptions): Promise<void>
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
    if (calls.length === 1 && (room.blocks.size === 0 || room.blockOf(first.id, now) === 0)) {
      const verdict = decideOne(room, first, now)
      if (verdict !== undefined) return verdict
    }
    return decideGroup(room, calls, now, onFull)
  }
  const timeOf = (callOptions?: CallOptions): Micros => callOptions?.now ?? clock.now()
  const must = (needed: number, now: Micros): void => {
    if (!room.makeRoom(needed, now)) throw room.full
  }
  const adjustOne = ({ id, limit, phase }: Call, amount: MicroTokens, now: Micros, receipt: Micros | undefined): void => {
    const { states, lo, hi, step } = room.limits.find(id.scope, id.key, limit)
    const { algorithm, plan } = limit
    const row = states.find(lo, hi)
    // A penalty writes a state, which must not begin fresh if a shared state replaced the key's own.
    const trace = row === -1 && amount < 0 ? room.overflow.trace(id.scope.text, lo) : undefined
    const stored = row === -1 ? trace : states.read(row, step.next)
    const state = stored === undefined ? undefined : algorithm.adopt(plan, stored, now, phase)
    const adjusted = algorithm.adjust(plan, state, now, amount, phase, receipt)
    if (adjusted === stored) return
    if (adjusted === undefined) {
      if (row !== -1) states.remove(row)
    } else if (row !== -1) states.replace(row, limit, adjusted)
    else {
      states.find(lo, hi)
      states.add(lo, hi, limit, adjusted, 0, now)
    }
  }
  return {
    name: 'memory',
    capabilities: { clock: 'caller', atomicBatch: 'any', sync: true },
    get size() {
      return room.size
    },
    stateOf: (id) => room.stateOf(id),
    consumeSync: (group, callOptions) => decide(group, timeOf(callOptions)),
    consume: async (groups, callOptions) => {
      const now = timeOf(callOptions)
      return groups.map((group) => kept(decide(group, now)))
    },
    peek: async (groups, callOptions) => {
      const now = timeOf(callOptions)
      const thought: Thought = { states: new Map(), added: 0 }
      return groups.map(({ calls }) => decideGroup(room, calls, now, onFull, thought))
    },
    adjust: async (calls, amounts, callOptions) => {
      const now = timeOf(callOptions)
      // Either all of them find room, or none is charged.
      const taking = calls.filter((_, index) => (amounts[index] as MicroTokens) < 0)
      const added = taking.filter(({ id, limit }) => room.isNew(id, limit)).length
      if (added > 0) must(added, now)
      calls.forEach((call, index) => adjustOne(call, amounts[index] as MicroTokens, now, callOptions?.receipt))
    },
    block: async (ids, duration, callOptions) => {
      const now = timeOf(callOptions)
      for (const id of ids) {
        if (duration === null) room.lift(id)
        else if (room.blockOf(id, now) === 0) {
          must(1, now)
          room.block(id, now + duration, now)
        } else room.block(id, now + duration, now)
      }
    },
    reset: async (ids) => {
      for (const id of ids) room.forget(id)
    },
    ready: async () => {},
    close: async () => {
      room = fresh()
    },
  }
}

/** A copy of a verdict that stays valid after the next call. */
function kept(verdict: GroupVerdict): GroupVerdict {
  const calls = verdict.calls.map(({ outcome, retryAfter, remaining, replenishAfter, resetAfter, blocked }): Verdict => {
    const call = { outcome, retryAfter, remaining, replenishAfter, resetAfter }
    return blocked === undefined ? call : { ...call, blocked }
  })
  return { ...verdict, calls }
}
