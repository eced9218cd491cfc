import { setTimeout as later } from 'node:timers/promises'
import { type Call, type Store, type StoreFailure, tokenBucket } from 'sluice'
import { type RegionalStore, replicate, type Replicator } from 'sluice/regions'
import { exchangeAll, openRegions } from './contestants/regions.ts'
import { amount } from './render/cells.ts'
import type { Reading } from './result/reading.ts'

/** What two regions write. */
export interface RegionWork {
  /**
   * Bytes that a region's store has for one key, without the key's bucket. `sent`: units (parts of the key's limit) were sent to one other
   * region. `received`: units came from one other region. `both`: units were sent to two regions and came from both.
   */
  readonly bytes: readonly [sent: number, received: number, both: number]
  /**
   * Rows that one region changes in a second to send units to the other. `busy`: while callers move from one region to the other and back.
   * `idle`: while nobody calls.
   */
  readonly busy: number
  readonly idle: number
}

export interface RegionWorkInput {
  readonly url: string
  /** Keys of which units are sent. */
  readonly cells: number
}

export const REGIONS = ['a', 'b', 'c'] as const
const WEIGHTS = { a: 400, b: 300, c: 300 } as const
const UNITS = 100
const AT_ONCE = 32
/** Milliseconds for which changed rows are counted. They are more than a second, because regions read each other once a second. */
const [IDLE_MS, BUSY_MS] = [1_500, 4_500]
/** Milliseconds after which the callers of the busy key change to the other region. */
const TURN_MS = 1_500
const LIMIT = tokenBucket({ rate: '100/s', burst: 100 })

function callOf(key: string): Call {
  return { id: { scope: { text: 'work:tb:' }, key }, limit: LIMIT, cost: 1_000_000, phase: 0 }
}

/**
 * @param weigh measures the bytes of all rows that a region has; with `live`, without the space of changed rows that a server frees later
 */
export async function measureRegions(
  open: (region: string) => Store,
  { cells }: RegionWorkInput,
  weigh: (region: string, live?: boolean) => Promise<{ readonly rows: number; readonly bytes: number }>,
): Promise<RegionWork> {
  const stores = await openRegions(open, WEIGHTS)
  const [one, other] = stores as [RegionalStore, RegionalStore]
  const [busy, idle] = await changes([one, other])
  // The sizes at the start are subtracted, because empty tables and hashes have a size, too.
  const before = new Map(await Promise.all(REGIONS.map(async (region) => [region, await weigh(region)] as const)))
  const bytesOf = async (region: 'a' | 'b', live?: boolean): Promise<number> => {
    const found = await weigh(region, live)
    const { rows, bytes } = before.get(region) ?? { rows: 0, bytes: 0 }
    if (found.rows - rows !== cells) throw new Error(`${found.rows - rows} of ${cells} keys have rows`)
    return (found.bytes - bytes) / cells
  }
  await send(one, 'b', cells)
  const sent = await bytesOf('a')
  await exchangeAll(stores)
  const received = await bytesOf('b')
  await send(one, 'c', cells)
  await exchangeAll(stores)
  for (const store of stores.slice(1)) await send(store, 'a', cells)
  await exchangeAll(stores)
  const both = await bytesOf('a', true)
  return { bytes: [sent, received, both], busy, idle }
}

/** Calls each key once, and then sends units of it to the other region. */
async function send(store: RegionalStore, to: string, cells: number): Promise<void> {
  let next = 0
  const sender = async (): Promise<void> => {
    while (next < cells) {
      const call = callOf(`user:${String((next += 1)).padStart(19, '0')}`)
      throwFailed(await store.decide([{ calls: [call] }]))
      if ((await store.remote?.give(call, to, UNITS)) !== true) throw new Error('no units were sent')
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, sender))
}

/** Rows a second that one region changed for the other. */
async function changes(stores: readonly [RegionalStore, RegionalStore]): Promise<readonly [busy: number, idle: number]> {
  // As over a network: texts.
  const answerOf = async (peer: string, request: unknown): Promise<unknown> =>
    JSON.parse(JSON.stringify(await replicators[peer === 'a' ? 0 : 1]?.answer(JSON.parse(JSON.stringify(request)))))
  const replicators: readonly Replicator[] = stores.map((store) => replicate({ store, transport: answerOf }))
  const sent = (): readonly number[] => replicators.map((replicator) => replicator.status().transfers.sent)
  const counted = async (during: () => Promise<unknown>): Promise<number> => {
    const before = sent()
    const began = performance.now()
    await during()
    const after = sent()
    return (Math.max(...after.map((count, index) => count - (before[index] as number))) / (performance.now() - began)) * 1_000
  }
  const idle = await counted(() => later(IDLE_MS))
  const busy = await counted(() => flood(stores))
  for (const replicator of replicators) await replicator.close()
  return [busy, idle]
}

/** Calls one key in the two regions by turns, so often that a region needs more than its half of the limit. */
async function flood(stores: readonly RegionalStore[]): Promise<void> {
  const began = performance.now()
  for (let passed = 0; passed < BUSY_MS; passed = performance.now() - began) {
    const store = stores[Math.floor(passed / TURN_MS) % 2] as RegionalStore
    throwFailed(await store.decide(Array.from({ length: 8 }, () => ({ calls: [callOf('busy')] }))))
    await later(10)
  }
}

function throwFailed(verdicts: readonly { readonly failure?: StoreFailure | undefined }[]): void {
  for (const { failure } of verdicts) if (failure !== undefined) throw failure
}

/** The readings of what two regions write. */
export function workReadings({ bytes: [sent, received, both], busy, idle }: RegionWork): Reading[] {
  const goal = { atMost: 250 }
  const row = 'rows a second'
  return [
    { name: 'a key that sent units', unit: 'bytes', value: sent, goal, ours: amount(sent, 'bytes') },
    { name: 'a key that received units', unit: 'bytes', value: received, goal, ours: amount(received, 'bytes') },
    { name: 'a key that did both with two peers', unit: 'bytes', value: both, goal, ours: amount(both, 'bytes') },
    { name: `${row} that a region changes for a peer, of a busy key`, unit: 'calls', value: busy, goal: { atMost: 1 } },
    { name: `${row} that a region changes for a peer, of keys without calls`, unit: 'calls', value: idle, goal: { atMost: 0 } },
  ]
}
