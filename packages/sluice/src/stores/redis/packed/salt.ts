import type { Random } from '../../../time/time.ts'
import { type CallOptions, StoreFailure } from '../../store.ts'
import { digesting } from './packing.ts'

/** Maps a text to an integer below 2^32. The integers are spread evenly. */
export type Spread = (text: string) => number

/** Resolves with a `Spread`, or rejects by the deadline of the call that needs it. */
export type Spreading = (options: CallOptions | undefined) => Promise<Spread>

/** Stores a salt under a Redis key if none is stored there. Resolves with the stored salt. */
export type Fetch = (key: string, offered: string, options: CallOptions | undefined) => Promise<unknown>

const FORM = /^[0-9a-f]{16}$/

/**
 * Spreads texts by a keyed hash. Its key, the salt, is stored in Redis. So the spread is the same in every process, and nobody outside can
 * choose texts that collide. The salt is read at the first use, and again after a failure.
 * @param prefix prefix of the store's keys; no state has the key of the salt
 */
export function spreading(prefix: string, random: Random, fetch: Fetch): Spreading {
  const offered = word(random) + word(random)
  let known: Promise<Spread> | undefined
  return (options) => {
    if (known === undefined) {
      known = fetch(`${prefix}$salt`, offered, options).then(spreadOf)
      known.catch(() => (known = undefined))
    }
    return known
  }
}

function word(random: Random): string {
  return Math.floor(random() * 2 ** 32)
    .toString(16)
    .padStart(8, '0')
}

/** Makes a `Spread` from a stored salt. @throws StoreFailure for an invalid salt */
function spreadOf(found: unknown): Spread {
  const text = found instanceof Uint8Array ? String.fromCodePoint(...found.subarray(0, 17)) : ''
  const problem = `redis: the salt of shared states is ${JSON.stringify(text)}`
  if (!FORM.test(text)) throw new StoreFailure('protocol', 'no', problem)
  const digest = digesting(text)
  return (key) => digest(key).low
}
