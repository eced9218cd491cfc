import { stateName } from '../../keys/encode.ts'
import type { Call, StateId } from '../store.ts'
import type { Place } from './packing.ts'

/** A state, and whether its value may be long: such a one is never a member of a hash. */
export interface Named {
  readonly name: string
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

/** Each state a string of its own. */
export function plainLayout(prefix: string): Layout {
  return { packed: false, addressesOf: (states) => ({ keys: states.map(({ name }) => prefix + name), args: [] }) }
}

/** States as members of hashes (lua/state.lua). */
export function packedLayout(prefix: string, placeOf: (name: string) => Place): Layout {
  return {
    packed: true,
    addressesOf(states) {
      const places = states.map(({ name, told }) => (told ? { key: prefix + name, high: -1, low: -1 } : placeOf(name)))
      return { keys: places.map(({ key }) => key), args: [`[${places.map(({ high, low }) => `${high},${low}`).join(',')}]`] }
    },
  }
}

export function isTold({ algorithm }: Call['limit']): boolean {
  return algorithm.cells === 'log'
}

export function calledOf({ id, limit }: Call): Named {
  return { name: stateName(id), told: isTold(limit) }
}

/** Of a state that is named without its limit: scopes end with the algorithm's tag. */
export function namedOf(id: StateId): Named {
  return { name: stateName(id), told: /(?:^|:)sl:$/.test(id.scope.text) }
}
