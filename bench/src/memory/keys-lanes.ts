import { interleave, type Lane, type Timed } from '../interleave.ts'
import { randomOrder } from '../random-order.ts'
import { type Check, type Holder, holderOf, keysOf } from './many-keys.ts'
import type { Profile } from '../profiles.ts'

export interface KeysInput {
  readonly seconds: number
  readonly keys: number
  readonly profile: Profile
}

export interface KeysResult {
  /** The lanes (measured limiters) of the Map, of Sluice, and of the bare table. */
  readonly lanes: readonly [map: Timed, sluice: Timed, bare: Timed]
  /** The number of keys that Sluice allowed when each was called for the first time. */
  readonly firstAllowed: number
}

const CALLS = 20_000
const WARM_UP = 5
const ORDER = 2 ** 20

/**
 * Calls random keys of a full table, in several lanes (measured limiters). All lanes use the same order of keys but begin at different
 * indexes, so that no lane warms the caches for another.
 */
export async function compareKeys({ seconds, keys: count, profile }: KeysInput): Promise<KeysResult> {
  const keys = keysOf(count)
  const order = randomOrder(ORDER, count, 0x2545_f491)
  const holders: readonly Holder[] = ['map', 'sluice', 'bare']
  let firstAllowed = 0
  const lanes = holders.map((holder, index): Lane => {
    const check = holderOf(holder, profile, count)
    for (const key of keys) if (check(key) && holder === 'sluice') firstAllowed += 1
    return walk(holder, check, keys, order, Math.floor((ORDER * index) / holders.length))
  })
  const timed = await interleave(lanes, { calls: CALLS, warmUp: WARM_UP, seconds })
  return { lanes: timed as readonly Timed[] as KeysResult['lanes'], firstAllowed }
}

function walk(name: string, check: Check, keys: readonly string[], order: Uint32Array, start: number): Lane {
  let at = start
  return {
    name,
    run(calls) {
      let allowed = 0
      for (let call = 0; call < calls; call += 1) {
        if (check(keys[order[at] as number] as string)) allowed += 1
        at = (at + 1) % ORDER
      }
      return allowed
    },
  }
}
