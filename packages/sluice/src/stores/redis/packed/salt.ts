import type { Random } from '../../../time/time.ts'
import { type CallOptions, StoreFailure } from '../../store.ts'
import { digesting } from './packing.ts'

/** Maps a text to an integer, evenly spread below 2^32. */
export type Spread = (text: string) => number

/** Offers a salt under a Redis key, and resolves with the salt that is stored there. */
export type Fetch = (key: string, offered: string, options: CallOptions | undefined) => Promise<unknown>

const FORM = /^[0-9a-f]{16}$/

/**
 * Spreads texts by a keyed hash whose key is kept in the store. It is the same in every process, and nobody outside can choose texts that
 * collide. The key is fetched at the first use, and again after a failure.
 * @param prefix of the store's names; no state has the name that follows it
 */
export function spreading(prefix: string, random: Random, fetch: Fetch): (options: CallOptions | undefined) => Promise<Spread> {
  const offered = word(random) + word(random)
  let known: Promise<Spread> | undefined
  return (options) => {
    const spread = known ?? fetch(`${prefix}$salt`, offered, options).then(spreadOf)
    if (known === undefined) {
      known = spread
      spread.catch(() => (known = undefined))
    }
    return spread
  }
}

function word(random: Random): string {
  return Math.floor(random() * 2 ** 32)
    .toString(16)
    .padStart(8, '0')
}

/** @throws StoreFailure for an invalid salt */
function spreadOf(found: unknown): Spread {
  const text = found instanceof Uint8Array ? String.fromCodePoint(...found.subarray(0, 17)) : ''
  if (!FORM.test(text)) throw new StoreFailure('protocol', 'no', `redis: the salt of shared states is ${JSON.stringify(text)}`)
  const [k0, k1] = [Number.parseInt(text.slice(0, 8), 16), Number.parseInt(text.slice(8), 16)]
  const digest = digesting(k0, k1)
  return (key) => digest(key).low
}
