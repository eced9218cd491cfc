import { tokenBucket } from '../../src/algorithms/token-bucket.ts'
import type { HistoryNetwork, MakeNetwork } from './store-history.ts'

const SECOND = 1_000_000
const TOKEN = 1_000_000
/** One that is full soon, and one with a large burst. */
const LIMITS = [tokenBucket({ rate: '3/s', burst: 3 }), tokenBucket({ rate: '1/s', burst: 100 })]

/** Histories in which a store drops the expired state of a key that sent or received units. Returns the worst audit of each. */
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

/** The other region used up its share by the large limit, and sent it. The key was full by the small one, so it is not by the large one. */
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

/** The same, if units are sent on before the next call. */
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

/** The key was full at the share that was left when the era began, and not at its weight. */
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
