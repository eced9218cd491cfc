import { tokenBucket } from '../../src/algorithms/token-bucket.ts'
import type { HistoryNetwork, MakeNetwork } from './store-history.ts'

const SECOND = 1_000_000
const TOKEN = 1_000_000
/** One that is full soon, and one with a large burst. */
const LIMITS = [tokenBucket({ rate: '3/s', burst: 3 }), tokenBucket({ rate: '1/s', burst: 100 })]

/**
 * Histories in which a store drops the expired state of a key of which units were sent or received. Returns for each the most tokens above
 * the limit, in bursts.
 */
export async function forgotten(make: MakeNetwork): Promise<readonly number[]> {
  const worst: number[] = []
  for (const happens of [rollout, gift, era]) {
    const network = await make([500, 500], LIMITS, { cells: 1, maxCells: 9, offsets: [0, 0] })
    for (let round = 0; round < 4; round += 1) await network.round()
    network.wait(200 * SECOND)
    await happens(network)
    worst.push(network.worst.a)
  }
  return worst
}

/**
 * Region 1 uses up its share by the large limit, and sends its units to region 0. There the key becomes full by the small limit, and its
 * state is dropped. By the large limit the key is not full then.
 */
async function rollout(network: HistoryNetwork): Promise<void> {
  await network.call(0, TOKEN, 0, 0)
  await network.call(1, undefined, 0, 1)
  await network.give(1, 0, 1, 0, 1)
  await network.round()
  network.wait(2 * SECOND)
  await network.call(0, TOKEN, 0, 0)
  network.wait(2 * SECOND)
  await network.forget()
  await network.call(0, undefined, 0, 1)
}

/** As `rollout`, but region 0 sends the units back before the key is called again. */
async function gift(network: HistoryNetwork): Promise<void> {
  await network.call(1, undefined, 0, 1)
  await network.call(0, TOKEN, 0, 0)
  await network.give(1, 0, 1, 0, 1)
  await network.round()
  network.wait(2 * SECOND)
  await network.forget()
  await network.give(0, 1, 1, 0, 1)
  await network.round()
  await network.call(1, undefined, 0, 1)
}

/**
 * Region 0 sends nearly all units of a key, and the rest fills up. When a new era gives the region its weight again, the key is full only
 * at the small share.
 */
async function era(network: HistoryNetwork): Promise<void> {
  await network.call(0, TOKEN, 0, 1)
  network.wait(2 * SECOND)
  await network.give(0, 1, 0.98, 0, 1)
  await network.round()
  await network.call(1, undefined, 0, 1)
  network.wait(2 * SECOND)
  await network.forget()
  await network.endEra(0, 2, [500, 500])
  for (let round = 0; round < 4; round += 1) await network.round()
  await network.call(0, undefined, 0, 1)
}
