import type { Random } from '../../../time/time.ts'
import { type CallOptions, StoreFailure } from '../../store.ts'
import { digesting } from './packing.ts'

/** Maps texts evenly to integers below 2^32. */
export type Spread = (text: string) => number

/** Rejects by the deadline of the call. */
export type Spreading = (options: CallOptions | undefined) => Promise<Spread>

/** Stores the offered salt if the key has none. Resolves with the stored one. */
export type Fetch = (key: string, offered: string, options: CallOptions | undefined) => Promise<unknown>

const FORM = /^[0-9a-f]{16}$/

/** The key of the hash function is a salt in Redis. So all processes map a text alike, and no outsider can choose texts that collide. */
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

/** @throws StoreFailure for an invalid salt */
function spreadOf(found: unknown): Spread {
  const text = found instanceof Uint8Array ? String.fromCodePoint(...found.subarray(0, 17)) : ''
  const problem = `redis: the salt of shared states is ${JSON.stringify(text)}`
  if (!FORM.test(text)) throw new StoreFailure('protocol', 'no', problem)
  const digest = digesting(text)
  return (key) => digest(key).low
}
