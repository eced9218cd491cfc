import { encodeKey } from '../../keys/encode.ts'
import type { AnyLimit } from '../../algorithms/algorithm.ts'
import { isRecord } from '../../algorithms/hold-record.ts'
import type { BatchState } from '../batch/batch.ts'
import type { Call, StateId } from '../store.ts'
import { keySlot } from './key-slot.ts'
import { taggedName, tagOf } from './names.ts'
import type { Packing } from './packed/packing.ts'

/** A log may be long, so it is never a member of a hash. */
export type Named = Pick<BatchState, 'name' | 'key' | 'isLog'>

export interface Addresses {
  readonly keys: readonly string[]
  readonly args: readonly string[]
}

export interface Layout {
  readonly packed: boolean
  addressesOf(states: readonly Named[]): Addresses
  /** Depends on the key alone, unless the scope is empty. */
  slotOf(id: StateId): number
}

/** Each state is a string, under prefix, hash tag, scope and key. */
export function plainLayout(prefix: string): Layout {
  const slotOfKey = rememberingLast((key) => keySlot(tagOf(encodeKey(key))))
  return {
    packed: false,
    addressesOf: (states) => ({ keys: states.map(({ name, key }) => prefix + taggedName(name, key)), args: [] }),
    slotOf: ({ scope, key }) => (scope.text === '' ? keySlot(prefix + encodeKey(key)) : slotOfKey(key)),
  }
}

/**
 * States are members of hashes, all states of a key in one hash; logs are strings of their own. The key's digest gives the number of the
 * hash. In the names of the hash and of the logs, this number is the hash tag.
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

/** Calls of a group mostly have one key. */
function rememberingLast(slotOfKey: (key: string) => number): (key: string) => number {
  let [last, slot]: [string | undefined, number] = [undefined, 0]
  return (key) => {
    if (key !== last) slot = slotOfKey(key)
    last = key
    return slot
  }
}

/** The scope of a state ends with the algorithm's tag. */
export function namedOf({ scope: { text }, key: own }: StateId): Named {
  const key = encodeKey(own)
  return { name: text + key, key, isLog: text.endsWith(':sl:') || text === 'sl:' }
}

/** Programs return the verdicts of logs instead of their states, which may be long. Other states that vary in size are returned. */
export function hasLog(limit: AnyLimit): boolean {
  return limit.algorithm.cells === 'log' && limit.algorithm.holding === undefined && !isRecord(limit)
}

export function calledOf({ id, limit }: Call): Named {
  const key = encodeKey(id.key)
  return { name: id.scope.text + key, key, isLog: hasLog(limit) }
}
