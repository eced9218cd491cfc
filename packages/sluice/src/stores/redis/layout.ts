import { encodeKey } from '../../keys/encode.ts'
import type { AnyLimit } from '../../algorithms/algorithm.ts'
import { isRecord } from '../../algorithms/hold-record.ts'
import type { BatchState } from '../batch/batch.ts'
import type { Call, StateId } from '../store.ts'
import { keySlot } from './key-slot.ts'
import { taggedName, tagOf } from './names.ts'
import type { Packing } from './packed/packing.ts'

/** The name of a state, and whether the state is a log. A log may be long, so it is never a member of a hash. */
export type Named = Pick<BatchState, 'name' | 'key' | 'isLog'>

/** Where a program finds states: their Redis keys, and the arguments that say where in these keys (state.lua). */
export interface Addresses {
  readonly keys: readonly string[]
  readonly args: readonly string[]
}

export interface Layout {
  readonly packed: boolean
  addressesOf(states: readonly Named[]): Addresses
  /** The Cluster slot of a state. If the state has a scope, its slot depends on the key alone. */
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
 * States are members of hashes (lua/storage/state.lua); logs are strings. All states of a key are in one hash. The number of this hash is
 * the hash tag of its Redis key, and of the Redis keys of the key's logs.
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

/** Caches the slot of the last key. A slot is computed several times for each call, and calls of a group mostly have one key. */
function rememberingLast(slotOfKey: (key: string) => number): (key: string) => number {
  let [last, slot]: [string | undefined, number] = [undefined, 0]
  return (key) => {
    if (key !== last) slot = slotOfKey(key)
    last = key
    return slot
  }
}

/** The name of a state whose limit is not known. Its scope ends with the algorithm's tag, which says whether the state is a log. */
export function namedOf({ scope: { text }, key: own }: StateId): Named {
  const key = encodeKey(own)
  return { name: text + key, key, isLog: text.endsWith(':sl:') || text === 'sl:' }
}

/**
 * Whether the states of a limit are logs. Logs may be long, so programs return the verdicts of their calls instead. The states of
 * concurrency limits and hold records also vary in size, but are returned.
 */
export function hasLog(limit: AnyLimit): boolean {
  return limit.algorithm.cells === 'log' && limit.algorithm.holding === undefined && !isRecord(limit)
}

/** The name of a call's state. The call's limit says whether the state is a log. */
export function calledOf({ id, limit }: Call): Named {
  const key = encodeKey(id.key)
  return { name: id.scope.text + key, key, isLog: hasLog(limit) }
}
