import { encodeKey } from '../../keys/encode.ts'
import type { AnyLimit } from '../../algorithms/algorithm.ts'
import { isRecord } from '../../algorithms/hold-record.ts'
import type { BatchState } from '../batch/batch.ts'
import type { Call, StateId } from '../store.ts'
import { keySlot } from './key-slot.ts'
import { taggedName, tagOf } from './names.ts'
import type { Packing } from './packed/packing.ts'

/** The name of a state, and whether it is a log. A log's value may be long, so a log is never a member of a hash. */
export type Named = Pick<BatchState, 'name' | 'key' | 'isLog'>

/** Where a program finds states: the Redis keys, and further arguments about them. */
export interface Addresses {
  readonly keys: readonly string[]
  readonly args: readonly string[]
}

export interface Layout {
  readonly packed: boolean
  addressesOf(states: readonly Named[]): Addresses
  /** The Cluster slot of a state. For a state with a scope it depends on the key alone. */
  slotOf(id: StateId): number
}

/** Each state is a separate string. Its Redis key is the prefix, the hash tag, the scope and the key. */
export function plainLayout(prefix: string): Layout {
  const slotOfKey = rememberingLast((key) => keySlot(tagOf(encodeKey(key))))
  return {
    packed: false,
    addressesOf: (states) => ({ keys: states.map(({ name, key }) => prefix + taggedName(name, key)), args: [] }),
    slotOf: ({ scope, key }) => (scope.text === '' ? keySlot(prefix + encodeKey(key)) : slotOfKey(key)),
  }
}

/**
 * States are members of hashes (lua/storage/state.lua), but logs are strings. All states of a key are in one hash, which has a number. That
 * number is the hash tag of the hash and of the key's logs.
 */
export function packedLayout(prefix: string, packing: Packing): Layout {
  const slotOfKey = rememberingLast((key) => keySlot(String(packing.hashOf(encodeKey(key)))))
  return {
    packed: true,
    addressesOf(states) {
      const halves: number[] = []
      const keys = states.map(({ name, key, isLog }) => {
        const hash = `${prefix}{${packing.hashOf(key)}}`
        if (isLog) {
          halves.push(-1, -1)
          return hash + name
        }
        const { high, low } = packing.memberOf(name)
        halves.push(high, low)
        return hash
      })
      return { keys, args: [`[${halves.join(',')}]`] }
    },
    slotOf: ({ key }) => slotOfKey(key),
  }
}

/** Remembers the slot of the last key: a slot is computed several times for each call, and calls of a group mostly have one key. */
function rememberingLast(slotOfKey: (key: string) => number): (key: string) => number {
  let [last, slot]: [string | undefined, number] = [undefined, 0]
  return (key) => {
    if (key !== last) slot = slotOfKey(key)
    last = key
    return slot
  }
}

/** The name of a state whose limit is not known. Scopes end with the algorithm's tag, which shows whether the state is a log. */
export function namedOf({ scope: { text }, key: own }: StateId): Named {
  const key = encodeKey(own)
  return { name: text + key, key, isLog: text.endsWith(':sl:') || text === 'sl:' }
}

/** Whether the states of a limit are logs: programs return verdicts instead, because a state may be long. Slots and records are returned. */
export function hasLog(limit: AnyLimit): boolean {
  return limit.algorithm.cells === 'log' && limit.algorithm.holding === undefined && !isRecord(limit)
}

/** The name of a call's state. The call's limit shows whether the state is a log. */
export function calledOf({ id, limit }: Call): Named {
  const key = encodeKey(id.key)
  return { name: id.scope.text + key, key, isLog: hasLog(limit) }
}
