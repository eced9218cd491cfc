import { encodeKey } from '../../keys/encode.ts'
import type { Call, StateId } from '../store.ts'
import { taggedName } from './names.ts'
import type { Packing } from './packing.ts'

/** A state, and whether its value may be long: such a one is never a member of a hash. */
export interface Named {
  /** Scope and key. */
  readonly name: string
  /** As `encodeKey` makes it. */
  readonly key: string
  readonly told: boolean
}

/** Where a program finds states: its keys, and what it must know of them beside. */
export interface Addresses {
  readonly keys: readonly string[]
  readonly args: readonly string[]
}

export interface Layout {
  readonly packed: boolean
  addressesOf(states: readonly Named[]): Addresses
}

/** Each state a string of its own: prefix, the key's tag, scope and key. */
export function plainLayout(prefix: string): Layout {
  return { packed: false, addressesOf: (states) => ({ keys: states.map(({ name, key }) => prefix + taggedName(name, key)), args: [] }) }
}

/** States as members of hashes (lua/state.lua). All states of a key lie in one hash, whose number is the tag of those that are strings. */
export function packedLayout(prefix: string, packing: Packing): Layout {
  return {
    packed: true,
    addressesOf(states) {
      const halves: number[] = []
      const keys = states.map(({ name, key, told }) => {
        const hash = `${prefix}{${packing.hashOf(key)}}`
        if (told) {
          halves.push(-1, -1)
          return hash + name
        }
        const { high, low } = packing.memberOf(name)
        halves.push(high, low)
        return hash
      })
      return { keys, args: [`[${halves.join(',')}]`] }
    },
  }
}

export function isTold({ algorithm }: Call['limit']): boolean {
  return algorithm.cells === 'log'
}

export function calledOf({ id, limit }: Call): Named {
  return namedAs(id, isTold(limit))
}

/** Of a state that is named without its limit: scopes end with the algorithm's tag. */
export function namedOf(id: StateId): Named {
  return namedAs(id, /(?:^|:)sl:$/.test(id.scope.text))
}

function namedAs({ scope, key: text }: StateId, told: boolean): Named {
  const key = encodeKey(text)
  return { name: scope.text + key, key, told }
}
