import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { batchesOf, type CallersLane } from '../src/redis/batches.ts'
import { interleaveLanes, type LaneHandle } from '../src/redis/rounds.ts'

const OPTIONS = { pid: process.pid, batchMs: 1, warmUpMs: 8 }

/** A lane that answers as configured, one trip for every second request. */
function lane(name: string, callers: number, answer: (issued: number) => Promise<boolean>): CallersLane & { readonly seen: Set<number> } {
  const seen = new Set<number>()
  let issued = 0
  return {
    name,
    callers,
    seen,
    invoke: (caller) => {
      seen.add(caller)
      issued += 1
      return answer(issued)
    },
    passed: (allowed) => allowed === true,
    sent: () => ({ commands: issued, calls: issued / 2 }),
  }
}

describe('batches of lanes', () => {
  it('shares each batch among the callers, counts answers, errors and trips, and leaves the warm-up out', async () => {
    const allowing = lane('allowing', 4, async () => {
      await nextTurn()
      return true
    })
    const failing = lane('failing', 2, async (issued) => {
      await nextTurn()
      if (issued % 2 === 0) throw new Error('away')
      return false
    })
    const [first, second] = await interleaveLanes(
      [allowing, failing].map((made) => batchesOf(made, OPTIONS)),
      0,
    )
    expect(allowing.seen).toEqual(new Set([0, 1, 2, 3]))
    expect(first).toMatchObject({ name: 'allowing', callers: 4, errors: 0, reasons: {}, storeCalls: 0.5 })
    expect(first?.rounds).toHaveLength(7)
    expect(first?.allowed).toBe(first?.total)
    expect(second).toMatchObject({ allowed: 0, storeCalls: 0.5 })
    expect(second?.reasons).toEqual({ away: second?.errors })
    expect(Math.abs((second?.errors ?? 0) * 2 - (second?.total ?? 0))).toBeLessThanOrEqual(7)
  })

  it('gives lanes about the same time: what is quick is called more often', async () => {
    const quick = lane('quick', 1, async () => true)
    const slow = lane('slow', 1, async () => {
      const until = performance.now() + 1
      while (performance.now() < until);
      return true
    })
    // Long enough that a lane grows to its size although the machine does other work meanwhile.
    const [fast, idle] = await interleaveLanes(
      [quick, slow].map((made) => batchesOf(made, { ...OPTIONS, warmUpMs: 200 })),
      0,
    )
    expect(fast?.total).toBeGreaterThan(10 * (idle?.total ?? Number.NaN))
  })

  it('takes turns forth and back, after all have warmed up', async () => {
    const turns: string[] = []
    const round = { wall: 1, client: 1, server: 0 }
    const handle = (name: string): LaneHandle => ({
      name,
      callers: 1,
      warmUp: async () => void turns.push(name.toLowerCase()),
      batch: async () => {
        turns.push(name)
        return { round, total: 2, allowed: 1, errors: 1, reasons: { away: 1 }, trips: 3 }
      },
    })
    const [first] = await interleaveLanes(['A', 'B', 'C'].map(handle), 0)
    expect(turns.slice(0, 12).join('')).toBe('abcABCCBAABC')
    expect(first).toMatchObject({ total: 14, allowed: 7, errors: 7, reasons: { away: 7 }, storeCalls: 1.5 })
  })
})
