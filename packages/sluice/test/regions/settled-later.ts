import { expect } from 'vitest'
import { tokenBucket } from '../../src/algorithms/token-bucket.ts'
import type { MakeNetwork } from './store-history.ts'
import { TOKEN } from './store-network.ts'

const HOUR = 3_600_000_000

/**
 * Settles holds after all or some units of their key were sent to the other region. The key has 40 tokens, and next to nothing is refilled.
 */
export async function settlesAfterGifts(make: MakeNetwork): Promise<void> {
  const limit = tokenBucket({ rate: '40/h', burst: 40 })
  const network = await make([500, 500], [limit], { cells: 3, maxCells: 9, offsets: [0, 0] })
  for (let round = 0; round < 4; round += 1) await network.round()
  network.wait(2 * HOUR)
  // Both regions call each key once. A region that never called a key does not know its limit, and would receive no tokens.
  for (const region of [0, 1]) for (const cell of [0, 1, 2]) expect(await network.call(region, 1, cell)).toBe(1)
  network.wait(HOUR)
  const hold = async (cell: number, tokens: number): Promise<number> =>
    (await network.reserve(0, tokens * TOKEN, cell, 0, 24 * HOUR)) as number
  const settled = async (one: number, part: number) => {
    const { back, report } = await network.settleHold(0, one, part, 0)
    const { charged = 0, overage = 0 } = report.parts[0] ?? {}
    return {
      status: report.status,
      back: Math.round(back / TOKEN),
      charged: Math.round(charged / TOKEN),
      overage: Math.round(overage / TOKEN),
    }
  }

  // After the hold 10 of 20 tokens are left. Half of the units go, and 5 tokens with them. The share left has a burst of 10, so only 5 of
  // the 10 held tokens have room.
  const some = await hold(0, 10)
  expect(await network.give(0, 1, 0.5, 0)).toBe(true)
  expect(await settled(some, 0)).toMatchObject({ status: 'settled', back: 5, charged: 0 })
  expect(await settled(some, 0)).toMatchObject({ status: 'settled', back: 0 })

  // All units go to the peer, with the tokens. So a settlement gives nothing back here, and cannot charge more.
  const [idle, busy] = [await hold(1, 4), await hold(1, 5)]
  expect(await network.give(0, 1, 1, 1)).toBe(true)
  expect(await settled(idle, 0)).toMatchObject({ status: 'settled', back: 0, charged: 0, overage: 0 })
  expect(await settled(busy, 3)).toMatchObject({ status: 'settled', back: 0, charged: 5, overage: 10 })
  await network.round()
  expect(Math.round((await network.call(1, undefined, 1)) / TOKEN)).toBe(31)

  // Units and tokens come from the peer. So what was used beyond the hold can be charged here.
  const later = await hold(2, 20)
  expect(await network.give(1, 0, 0.5, 2)).toBe(true)
  await network.round()
  expect(await settled(later, 1.25)).toMatchObject({ status: 'settled', charged: 25, overage: 0 })
  expect(Math.round((await network.call(0, undefined, 2)) / TOKEN)).toBe(5)
  await network.check()
  expect(network.worst.a).toBeLessThanOrEqual(0)
  expect(network.worst.b).toBeLessThanOrEqual(0)
}

/** A hold is settled, and its tokens are spent. Then the server returns to an earlier snapshot, in which the hold is not settled yet. */
export async function settlesAfterRestore(make: MakeNetwork): Promise<void> {
  const network = await make([500, 500], [tokenBucket({ rate: '40/h', burst: 40 })], { cells: 1, maxCells: 9, offsets: [0, 0] })
  for (let round = 0; round < 4; round += 1) await network.round()
  network.wait(2 * HOUR)
  const hold = (await network.reserve(0, 20 * TOKEN, 0, 0, 24 * HOUR)) as number
  // Whoever reads a region takes a snapshot of its server.
  await network.read(1, 0)
  expect((await network.settleHold(0, hold, 0, 0)).report.status).toBe('settled')
  expect(await network.call(0, 20 * TOKEN)).toBe(20 * TOKEN)
  await network.call(1)
  await network.lose(0)
  for (let round = 0; round < 4; round += 1) await network.round()
  expect(await network.agree()).toBe(true)
  const { back, report } = await network.settleHold(0, hold, 0, 0)
  expect({ back, status: report.status }).toEqual({ back: 0, status: 'unknown' })
  await network.check()
  expect(network.worst.a).toBeLessThanOrEqual(0)
  expect(network.worst.b).toBeLessThanOrEqual(0)
}
