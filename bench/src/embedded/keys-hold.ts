import { PerformanceObserver } from 'node:perf_hooks'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { randomOrder } from '../random-order.ts'
import { type Check, type Holder, holderOf, keysOf } from './many-keys.ts'
import { ALLOWED_KEYS } from './profiles.ts'

export interface HoldInput {
  readonly holder: Holder
  readonly keys: number
  readonly runs: number
}

/** What holding the keys costs; times in milliseconds, one per run, every run with a table of its own. */
export interface HoldResult {
  /** Heap and external memory (array buffers are part of it) after a collection, without the keys' own texts, per key. */
  readonly bytesPerKey: number
  /** The longest call while the table grew from nothing to all keys. */
  readonly longestCall: readonly number[]
  /** The longest distance of two readings of the clock in an empty loop, for as long as the growth took, in the same process. */
  readonly longestNothing: readonly number[]
  /** The longest collection, through growth and through as many lookups at random. */
  readonly longestCollection: readonly number[]
  readonly allowed: number
}

/** So many calls between two turns of the event loop, which is when collections are reported. */
const TURN = 50_000

/** Fills a table of its own each run, call by call under the clock, looks keys up at random, and weighs the first table. */
export async function holdKeys({ holder, keys: count, runs }: HoldInput): Promise<HoldResult> {
  const keys = keysOf(count)
  const order = randomOrder(count, count, 0x2545_f491)
  const collections = watchCollections()
  const longestCall: number[] = []
  const longestNothing: number[] = []
  const longestCollection: number[] = []
  let [bytesPerKey, allowed] = [0, 0]
  for (let run = 0; run < runs; run += 1) {
    const before = await heldBytes()
    await collections.longest()
    const check = holderOf(holder, ALLOWED_KEYS, count)
    const grown = await grow(keys, check)
    allowed += grown.allowed
    for (let at = 0; at < count; at += 1) {
      if (check(keys[order[at] as number] as string)) allowed += 1
      if (at % TURN === 0) await nextTurn()
    }
    longestCollection.push(await collections.longest())
    longestCall.push(grown.longest)
    longestNothing.push(await nothing(grown.elapsed))
    // Only the first: later ones are weighed against what may still be there of the one before.
    if (run === 0) bytesPerKey = ((await heldBytes()) - before) / count
    // The table must outlive the weighing.
    if (check(keys[0] as string)) allowed += 1
  }
  collections.stop()
  return { bytesPerKey, longestCall, longestNothing, longestCollection, allowed }
}

interface Grown {
  readonly longest: number
  readonly elapsed: number
  readonly allowed: number
}

async function grow(keys: readonly string[], check: Check): Promise<Grown> {
  let [longest, allowed] = [0, 0]
  const started = performance.now()
  for (let index = 0; index < keys.length; index += 1) {
    const before = performance.now()
    if (check(keys[index] as string)) allowed += 1
    const took = performance.now() - before
    if (took > longest) longest = took
    if (index % TURN === 0) await nextTurn()
  }
  return { longest, elapsed: performance.now() - started, allowed }
}

/** The same loop without a table, for as long: what the machine puts between two readings of the clock. */
async function nothing(ms: number): Promise<number> {
  let longest = 0
  const until = performance.now() + ms
  for (let turn = 0; performance.now() < until; turn += 1) {
    const before = performance.now()
    const took = performance.now() - before
    if (took > longest) longest = took
    if (turn % TURN === 0) await nextTurn()
  }
  return longest
}

/** Twice, because what the first collection finds dead may hold buffers that only the second gives back. */
async function heldBytes(): Promise<number> {
  for (let times = 0; times < 2; times += 1) {
    globalThis.gc?.()
    await nextTurn()
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/** Collections since the last question, in milliseconds. */
function watchCollections(): { longest(): Promise<number>; stop(): void } {
  let longest = 0
  const observer = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) if (duration > longest) longest = duration
  })
  observer.observe({ entryTypes: ['gc'] })
  return {
    async longest() {
      // They are told in a later turn of the loop.
      await nextTurn()
      await nextTurn()
      const found = longest
      longest = 0
      return found
    },
    stop: () => observer.disconnect(),
  }
}
