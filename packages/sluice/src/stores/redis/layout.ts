import { encodeKey } from '../../keys/encode.ts'
import type { BatchState } from '../batch/batch.ts'
import type { Call, StateId } from '../store.ts'
import { keySlot } from './key-slot.ts'
import { taggedName, tagOf } from './names.ts'
import type { Packing } from './packed/packing.ts'

/** The name of a state, and whether its value may be long: such a state is never a member of a hash. */
export type Named = Pick<BatchState, 'name' | 'key' | 'isLog'>

/** The location of states for a program: its keys, and further arguments about them. */
export interface Addresses {
  readonly keys: readonly string[]
  readonly args: readonly string[]
}

export interface Layout {
  readonly packed: boolean
  addressesOf(states: readonly Named[]): Addresses
  /** The Cluster slot of a state, from its key alone if it has a scope. */
  slotOf(id: StateId): number
}

/** Each state is a separate string: prefix, the key's hash tag, scope and key. */
export function plainLayout(prefix: string): Layout {
  const slotOfKey = rememberingLast((key) => keySlot(tagOf(encodeKey(key))))
  return {
    packed: false,
    addressesOf: (states) => ({ keys: states.map(({ name, key }) => prefix + taggedName(name, key)), args: [] }),
    slotOf: ({ scope, key }) => (scope.text === '' ? keySlot(prefix + encodeKey(key)) : slotOfKey(key)),
  }
}

/**
 * States are members of hashes (lua/state.lua). All states of a key are in one hash; its number is the hash tag of those that are
 * strings.
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

/** Slots are computed several times for each call, and the calls of a group mostly have one key. */
function rememberingLast(slotOfKey: (key: string) => number): (key: string) => number {
  let [last, slot]: [string | undefined, number] = [undefined, 0]
  return (key) => {
    if (key !== last) slot = slotOfKey(key)
    last = key
    return slot
  }
}

/** The name of a state without its limit: scopes end with the algorithm's tag. */
export function namedOf({ scope, key: text }: StateId): Named {
  const key = encodeKey(text)
  return { name: scope.text + key, key, isLog: /(?:^|:)sl:$/.test(scope.text) }
}

/** The same from a call, whatever its scope. */
export function calledOf({ id, limit }: Call): Named {
  return { ...namedOf(id), isLog: limit.algorithm.cells === 'log' }
}
