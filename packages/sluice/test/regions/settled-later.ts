import { expect } from 'vitest'
import { tokenBucket } from '../../src/algorithms/token-bucket.ts'
import type { MakeNetwork } from './store-history.ts'
import { TOKEN } from './store-network.ts'

const HOUR = 3_600_000_000

/** Holds that are settled after units of their key were sent: all of them, or a part. The key has 40 tokens, and nothing flows in. */
export async function settlesAfterGifts(make: MakeNetwork): Promise<void> {
  const limit = tokenBucket({ rate: '40/h', burst: 40 })
  const network = await make([500, 500], [limit], { cells: 3, maxCells: 9, offsets: [0, 0] })
  for (let round = 0; round < 4; round += 1) await network.round()
  network.wait(2 * HOUR)
  // A region that never called a key does not know its limit, and receives no tokens.
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

  // A quarter of the whole is left here, a burst of 10. For half of it there was no room: 10 of 20 tokens were left after the charge.
  const some = await hold(0, 10)
  expect(await network.give(0, 1, 0.5, 0)).toBe(true)
  expect(await settled(some, 0)).toMatchObject({ status: 'settled', back: 5, charged: 0 })
  expect(await settled(some, 0)).toMatchObject({ status: 'settled', back: 0 })

  // Nothing is left here, so nothing goes back, and no more can be charged. The peer has the tokens that were sent.
  const [idle, busy] = [await hold(1, 4), await hold(1, 5)]
  expect(await network.give(0, 1, 1, 1)).toBe(true)
  expect(await settled(idle, 0)).toMatchObject({ status: 'settled', back: 0, charged: 0, overage: 0 })
  expect(await settled(busy, 3)).toMatchObject({ status: 'settled', back: 0, charged: 5, overage: 10 })
  await network.round()
  expect(Math.round((await network.call(1, undefined, 1)) / TOKEN)).toBe(31)

  // Units came, with tokens: what was used more is charged here.
  const later = await hold(2, 20)
  expect(await network.give(1, 0, 0.5, 2)).toBe(true)
  await network.round()
  expect(await settled(later, 1.25)).toMatchObject({ status: 'settled', charged: 25, overage: 0 })
  expect(Math.round((await network.call(0, undefined, 2)) / TOKEN)).toBe(5)
  await network.check()
  expect(network.worst.a).toBeLessThanOrEqual(0)
  expect(network.worst.b).toBeLessThanOrEqual(0)
}

/** A hold is settled, its tokens are spent, and the server returns to a snapshot of before: there the hold is not settled yet. */
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
