import { setImmediate as nextTurn } from 'node:timers/promises'
import { randomOrder } from '../random-order.ts'
import { watchCollections } from './collections.ts'
import { heldBytes } from './held-bytes.ts'
import { longestOf, TURN } from './longest-of.ts'
import { type Check, type Holder, holderOf, keysOf } from './many-keys.ts'
import { type Collection, type Longest, longestCall, longestCollection } from './pauses.ts'
import { ALLOWED_KEYS } from '../profiles.ts'

export interface HoldInput {
  readonly holder: Holder
  readonly keys: number
}

/** The cost of a table with all keys. Times are in milliseconds. */
export interface HoldResult {
  /** Heap and external memory (with array buffers) for each key after a collection, without the texts of the keys. */
  readonly bytesPerKey: number
  /** The longest call while the table grew from zero to all keys. */
  readonly call: Longest
  /** The longest turn of an empty loop in the same process, with the same readings of the clock, for as long as the growth took. */
  readonly nothing: Longest
  /** The longest garbage collection while the table grew, and the longest during as many random lookups. */
  readonly collections: { readonly growth: Collection; readonly lookups: Collection }
  readonly allowed: number
}

/** Fills a table and measures each call, looks keys up at random, and measures the memory of the table. */
export async function holdKeys({ holder, keys: count }: HoldInput): Promise<HoldResult> {
  const keys = keysOf(count)
  const order = randomOrder(count, count, 0x2545_f491)
  const collections = watchCollections()
  const before = await heldBytes()
  // Drops the garbage collections before this point, because the table did not cause them.
  await collections.taken()
  const check = holderOf(holder, ALLOWED_KEYS, count)
  let allowed = 0
  const started = performance.now()
  const grown = await longestOf(count, (index) => {
    if (check(keys[index] as string)) allowed += 1
  })
  const elapsed = performance.now() - started
  const inGrowth = await collections.taken()
  allowed += await lookUp(keys, order, check)
  const inLookups = await collections.taken()
  collections.stop()
  const until = performance.now() + elapsed
  const nothing = await longestOf(Infinity, () => performance.now() < until)
  const bytesPerKey = ((await heldBytes()) - before) / count
  // Uses the table after the measurement, so that it is not collected before.
  if (check(keys[0] as string)) allowed += 1
  return {
    bytesPerKey,
    call: longestCall(grown, inGrowth),
    nothing: longestCall(nothing, []),
    collections: { growth: longestCollection(inGrowth), lookups: longestCollection(inLookups) },
    allowed,
  }
}

async function lookUp(keys: readonly string[], order: Uint32Array, check: Check): Promise<number> {
  let allowed = 0
  for (let at = 0; at < order.length; at += 1) {
    if (check(keys[order[at] as number] as string)) allowed += 1
    if (at % TURN === 0) await nextTurn()
  }
  return allowed
}
