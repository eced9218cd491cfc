import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { randomOrder } from '../random-order.ts'
import { type Check, type Holder, holderOf, keysOf } from './many-keys.ts'
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
  /** The longest collection, through growth and through as many lookups at random. */
  readonly collection: Collection
  readonly allowed: number
}

export interface Longest {
  readonly wall: number
  /** What the process itself worked for at most: a call that others kept waiting is long, but not by its own doing. */
  readonly own: number
}

export interface Collection {
  readonly ms: number
  readonly kind: string
}

/** So many calls between two turns of the event loop, which is when collections are reported. */
const TURN = 50_000
/** So many calls between two readings of the processor time, which are too dear for every call. */
const BLOCK = 32

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
  await collections.longest()
  const check = holderOf(holder, ALLOWED_KEYS, count)
  let allowed = 0
  const started = performance.now()
  const call = await longestOf(count, (index) => {
    if (check(keys[index] as string)) allowed += 1
  })
  const elapsed = performance.now() - started
  allowed += await lookUp(keys, order, check)
  const collection = await collections.longest()
  collections.stop()
  const until = performance.now() + elapsed
  const nothing = await longestOf(Infinity, () => performance.now() < until)
  const bytesPerKey = ((await heldBytes()) - before) / count
  // The table must outlive the weighing.
  if (check(keys[0] as string)) allowed += 1
  return { bytesPerKey, call, nothing, collection, allowed }
}

async function lookUp(keys: readonly string[], order: Uint32Array, check: Check): Promise<number> {
  let allowed = 0
  for (let at = 0; at < order.length; at += 1) {
    if (check(keys[order[at] as number] as string)) allowed += 1
    if (at % TURN === 0) await nextTurn()
  }
  return allowed
}

/** Runs `step` so often, or until it says false, and finds its longest run. */
async function longestOf(times: number, step: (index: number) => unknown): Promise<Longest> {
  let [wall, own, inBlock] = [0, 0, 0]
  let cpu = process.cpuUsage()
  for (let index = 0; index < times; index += 1) {
    const before = performance.now()
    const more = step(index)
    const took = performance.now() - before
    if (took > inBlock) inBlock = took
    if (index % BLOCK === 0) {
      const { user, system } = process.cpuUsage(cpu)
      wall = Math.max(wall, inBlock)
      own = Math.max(own, Math.min(inBlock, (user + system) / 1_000))
      inBlock = 0
      if (index % TURN === 0) await nextTurn()
      cpu = process.cpuUsage()
    }
    if (more === false) break
  }
  return { wall, own }
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

type GcEntry = PerformanceEntry & { readonly detail?: { readonly kind?: unknown } }

/** The longest collection since the last question. */
function watchCollections(): { longest(): Promise<Collection>; stop(): void } {
  const none: Collection = { ms: 0, kind: 'none' }
  let longest = none
  const observer = new PerformanceObserver((list) => {
    // The types of this Node know no detail of an entry.
    for (const entry of list.getEntries() as readonly GcEntry[]) {
      const { duration, detail } = entry
      if (duration > longest.ms) longest = { ms: duration, kind: KINDS.get(detail?.kind) ?? 'other' }
    }
  })
  observer.observe({ entryTypes: ['gc'] })
  return {
    async longest() {
      // They are told in a later turn of the loop.
      await nextTurn()
      await nextTurn()
      const found = longest
      longest = none
      return found
    },
    stop: () => observer.disconnect(),
  }
}
