import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { randomOrder } from '../random-order.ts'
import { waitedMs } from '../waited.ts'
import { heldBytes } from './held-bytes.ts'
import { type Check, type Holder, holderOf, keysOf } from './many-keys.ts'
import { type Collection, type Longest, longestCall, longestCollection, type Run } from './pauses.ts'
import { ALLOWED_KEYS } from './profiles.ts'

export interface HoldInput {
  readonly holder: Holder
  readonly keys: number
}

/** What holding the keys costs; times in milliseconds. */
export interface HoldResult {
  /** Heap and external memory (array buffers are part of it) after a collection, without the keys' own texts, per key. */
  readonly bytesPerKey: number
  /** The longest call while the table grew from nothing to all keys. */
  readonly call: Longest
  /** The longest turn of an empty loop between the same readings of the clock, for as long as the growth took, in the same process. */
  readonly nothing: Longest
  /** The longest collections while the table grew, and through as many lookups at random. */
  readonly collections: { readonly growth: Collection; readonly lookups: Collection }
  readonly allowed: number
}

/** So many calls between two turns of the event loop, which is when collections are reported. */
const TURN = 50_000
/** So many calls between two readings of how long the thread had to wait; a reading costs too much for every call. */
const BLOCK = 32

/** Calls shorter than this are not looked at. */
const WORTH_MS = 0.02

const KINDS: ReadonlyMap<unknown, string> = new Map([
  [constants.NODE_PERFORMANCE_GC_MINOR, 'minor'],
  [constants.NODE_PERFORMANCE_GC_MAJOR, 'major'],
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL, 'incremental'],
  [constants.NODE_PERFORMANCE_GC_WEAKCB, 'weak'],
])

/** Fills a table call by call under the clock, looks keys up at random, and weighs it. */
export async function holdKeys({ holder, keys: count }: HoldInput): Promise<HoldResult> {
  const keys = keysOf(count)
  const order = randomOrder(count, count, 0x2545_f491)
  const collections = watchCollections()
  const before = await heldBytes()
  // What was collected until here is not the table's.
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
  // The table must outlive the weighing.
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

/** Runs `step` so often, or until it says false, and finds its longest run of each block. */
async function longestOf(times: number, step: (index: number) => unknown): Promise<Run[]> {
  const found: Run[] = []
  let longest: Run = { at: 0, wall: 0, own: 0 }
  let waited = waitedMs()
  for (let index = 0; index < times; index += 1) {
    const at = performance.now()
    const more = step(index)
    const wall = performance.now() - at
    if (wall > longest.wall) longest = { at, wall, own: wall }
    if (index % BLOCK === 0) {
      if (longest.wall > WORTH_MS) {
        found.push({ ...longest, own: Math.max(0, longest.wall - (waitedMs() - waited)) })
      }
      longest = { at: 0, wall: 0, own: 0 }
      if (index % TURN === 0) await nextTurn()
      waited = waitedMs()
    }
    if (more === false) break
  }
  return found
}

type GcEntry = PerformanceEntry & { readonly detail?: { readonly kind?: unknown } }

/** Collections since the last call. */
function watchCollections(): { taken(): Promise<Collection[]>; stop(): void } {
  let seen: Collection[] = []
  const observer = new PerformanceObserver((list) => {
    // The types of this Node know no detail of an entry.
    for (const { startTime, duration, detail } of list.getEntries() as readonly GcEntry[])
      seen.push({ at: startTime, ms: duration, kind: KINDS.get(detail?.kind) ?? 'other' })
  })
  observer.observe({ entryTypes: ['gc'] })
  return {
    async taken() {
      // They are reported in a later turn of the loop.
      await nextTurn()
      await nextTurn()
      const found = seen
      seen = []
      return found
    },
    stop: () => observer.disconnect(),
  }
}
