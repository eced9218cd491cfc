import { setImmediate as nextTurn } from 'node:timers/promises'
import { randomOrder } from '../random-order.ts'
import { watchCollections } from './collections.ts'
import { type ContestantName, contestantOf } from './contestants/all.ts'
import { heldBytes } from './held-bytes.ts'
import { longestOf, TURN } from './longest-of.ts'
import { keysOf } from './many-keys.ts'
import { type Collection, longestCall, longestCollection } from './pauses.ts'
import { MANY_KEYS } from './scenarios.ts'

export interface PeerHoldInput {
  readonly contestant: ContestantName
  readonly keys: number
}

/** What a contestant costs that holds all keys. Times are in milliseconds. */
export interface PeerHoldResult {
  /** Heap and external memory for each key after a collection, without the texts of the keys. */
  readonly bytesPerKey: number
  /** The longest call from zero to all keys, without waits for a processor. */
  readonly longestCall: number
  /** The longest garbage collection of any kind, from zero to all keys and during as many random lookups. */
  readonly longestCollection: number
  /** Garbage collections of the whole heap from zero to all keys and during the lookups: their number, and their milliseconds together. */
  readonly major: { readonly count: number; readonly ms: number }
  /** Answers other than `allowed`. */
  readonly refused: number
}

/** Fills a contestant with keys and times each call, looks keys up at random, and measures the memory. */
export async function holdPeer({ contestant, keys: count }: PeerHoldInput): Promise<PeerHoldResult> {
  const { open, awaited = false } = contestantOf(contestant)
  const keys = keysOf(count)
  const order = randomOrder(count, count, 0x2545_f491)
  const watched = watchCollections()
  const before = await heldBytes()
  // Drops the garbage collections before this point, because the contestant did not cause them.
  await watched.taken()
  const { decide } = await open([MANY_KEYS], { keys: count })
  let refused = 0
  const step = (key: string): void | Promise<void> => {
    const answer = decide(key, 1)
    // This function makes no promise itself, because that would be garbage that a synchronous contestant does not make.
    if (typeof answer !== 'boolean') return answer.then((allowed) => void (refused += allowed ? 0 : 1))
    refused += answer ? 0 : 1
  }
  const grown = await longestOf(count, (index) => step(keys[index] as string))
  const inGrowth = await watched.taken()
  for (let at = 0; at < count; at += 1) {
    const stepped = step(keys[order[at] as number] as string)
    if (awaited) await stepped
    if (at % TURN === 0) await nextTurn()
  }
  const all = [...inGrowth, ...(await watched.taken())]
  watched.stop()
  const bytesPerKey = ((await heldBytes()) - before) / count
  // Uses the contestant after the measurement, so that it is not collected before.
  await step(keys[0] as string)
  return {
    bytesPerKey,
    longestCall: longestCall(grown, inGrowth).own,
    longestCollection: longestCollection(all).ms,
    major: majorOf(all),
    refused,
  }
}

function majorOf(all: readonly Collection[]): PeerHoldResult['major'] {
  const major = all.filter(({ kind }) => kind === 'major')
  return { count: major.length, ms: major.reduce((sum, { ms }) => sum + ms, 0) }
}
