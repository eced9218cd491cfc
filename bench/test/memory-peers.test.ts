import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Quota } from '../src/contestants/contestant.ts'
import { type ContestantName, contestantOf, NAMES } from '../src/memory/contestants/all.ts'
import type { MemoryContestant } from '../src/memory/contestants/contestant.ts'
import { keysOf } from '../src/memory/many-keys.ts'
import { auditPeer } from '../src/memory/peer-audit.ts'
import { LIMITERS } from '../src/memory/peer-grants.ts'
import type { PeerHoldResult } from '../src/memory/peer-hold.ts'
import { heldTable } from '../src/memory/peers-held.ts'
import { peersTable } from '../src/memory/peers.ts'
import { playOf } from '../src/memory/plays.ts'
import { scenarioOf } from '../src/memory/scenarios.ts'
import { comparedTokens, grantedBy, tapeOf } from '../src/memory/tape.ts'
import { warmedUp } from '../src/memory/warm-up.ts'
import { isWrong } from '../src/result/table.ts'

const THREE: Quota = { tokens: 3, per: '1d', burst: 3 }
const FIVE: Quota = { tokens: 5, per: '1d', burst: 5 }

async function answers(name: ContestantName, quotas: readonly Quota[], requests: readonly (readonly [string, number])[]) {
  const { decide, close } = await contestantOf(name).open(quotas, { keys: 10 })
  const found: boolean[] = []
  for (const [key, cost] of requests) found.push(await decide(key, cost))
  close?.(['a', 'b'])
  return found
}

describe('limiters in this process', () => {
  it.each(LIMITERS)('%s: three of a burst of three, then none, each key for itself; the tightest of several limits holds', async (name) => {
    const requests = ['a', 'b', 'a', 'a', 'a', 'b'].map((key) => [key, 1] as const)
    const expected = [true, true, true, true, false, true]
    expect(await answers(name, [THREE], requests)).toEqual(expected)
    expect(await answers(name, [FIVE, THREE], requests)).toEqual(expected)
  })

  it.each(LIMITERS)('%s: a cost takes as many tokens', async (name) => {
    expect(
      await answers(
        name,
        [FIVE],
        [
          ['a', 4],
          ['b', 5],
          ['a', 1],
          ['a', 1],
        ],
      ),
    ).toEqual([true, true, true, false])
  })

  it.each(NAMES)('%s: says whether its answers are promises', async (name) => {
    const { open, awaited = false } = contestantOf(name)
    const { decide, close } = await open([THREE], { keys: 10 })
    expect(typeof decide('a', 1) === 'boolean').toBe(!awaited)
    close?.(['a'])
  })
})

describe('the audit on a controlled clock', () => {
  /** Twenty floods. A run of the bench has more. */
  const REQUESTS = 10_000

  it('a bucket is exact; windows keep their promise, and allow more than a bucket around their ends', async () => {
    expect(await auditPeer(contestantOf('sluice-sync'), REQUESTS)).toMatchObject({ overGrantPercent: 0, overBucketPercent: 0 })
    const window = await auditPeer(contestantOf('hono-store'), REQUESTS)
    expect(window.overGrantPercent).toBe(0)
    expect(window.overBucketPercent).toBeGreaterThan(20)
  })

  it('a limiter that allows everything is found', async () => {
    const open: MemoryContestant['open'] = () => ({ decide: () => true })
    expect((await auditPeer({ name: 'wrong', kind: 'peer', open }, REQUESTS)).overGrantPercent).toBeGreaterThan(20)
  })
})

describe('the mixed tape', () => {
  const { quotas, costs } = scenarioOf('mixed')
  const limit = quotas[0]?.burst ?? 0
  const tape = tapeOf(1_000, limit, costs)

  it('tokens are compared by key: what one got too much does not make up for what another got too little', () => {
    expect(comparedTokens(Int32Array.of(5, 1, 2), Int32Array.of(3, 3, 2))).toEqual({ permitted: 8, over: 2, under: 2 })
  })

  it('denies about a tenth, repeats itself, and no key gets more than its limit', () => {
    const permitted = tape.allowed.reduce((sum, one) => sum + one, 0)
    expect(1 - permitted / tape.allowed.length).toBeCloseTo(0.1, 2)
    expect(tapeOf(1_000, limit, costs)).toEqual(tape)
    expect(Math.max(...grantedBy(tape, 1_000))).toBe(limit)
    expect(new Set(tape.costs)).toEqual(new Set([1, 5]))
    expect(new Set(tapeOf(1_000, limit).costs)).toEqual(new Set([1]))
  })
})

describe('batches of a limiter in this process', () => {
  it('on a tape they have one limiter for all, whose code stays compiled, and new keys, so that each is decided as the first', async () => {
    const open = vi.spyOn(contestantOf('sluice-sync'), 'open')
    onTestFinished(() => open.mockRestore())
    const play = await playOf('sluice-sync', scenarioOf('mixed'), 1_000)
    const batches = [await play(1), await play(1)]
    expect(open).toHaveBeenCalledTimes(1)
    expect(batches.map(({ over, under }) => [over, under])).toEqual(Array.from({ length: 2 }, () => [0, 0]))
    expect(keysOf(4).slice(2)).toEqual(keysOf(2, 2))
  })

  it('are warmed up by calls too, however short the time is', async () => {
    const perCall = vi.fn(async (_calls: number) => 100)
    expect(await warmedUp(perCall, { calls: 100, batchMs: 1, warmUpMs: 0 })).toBe(10_000)
    expect(perCall.mock.calls.reduce((sum, [calls]) => sum + calls, 0)).toBeGreaterThanOrEqual(200_000)
    expect(await warmedUp(perCall, { calls: 16_384 })).toBe(16_384)
  })

  it('are not sized by a batch that seems to take no time: it waited longer than it ran', async () => {
    const times = [900, -40, 0, 200]
    const perCall = async (): Promise<number> => times.shift() ?? 100
    expect(await warmedUp(perCall, { calls: 100, batchMs: 1, warmUpMs: 0 })).toBe(10_000)
  })
})

describe('tables of limiters in this process', () => {
  const timed = (name: string, walls: readonly number[]) => {
    const rounds = walls.map((wall) => ({ wall, client: wall, server: 0 }))
    return { name, callers: 1, rounds, total: 10, allowed: 10, errors: 0, reasons: {}, storeCalls: 0 }
  }
  const right = { permitted: 100, over: 0, under: 0 }
  const grants = { map: { requests: 1, allowed: 1, overGrantPercent: 0, overBucketPercent: 0 } }

  it('compares with the Map of the same rounds; an allow where none may pass, or a denial where all may, is wrong', () => {
    const measured = [
      { contestant: 'map', timed: timed('Map', [10, 20]), verdicts: right },
      { contestant: 'sluice', timed: timed('Sluice', [20, 40]), verdicts: { ...right, under: 1 } },
      { contestant: 'clock', timed: timed('clock', [5, 10]), verdicts: right },
    ] as const
    const { rows, rank } = peersTable(scenarioOf('hot'), 1, measured, grants)
    expect(rows[1]?.cells['ratio']).toMatchObject({ median: 2 })
    expect(rows.map(isWrong)).toEqual([false, true, false])
    expect(rows[1]).toMatchObject({ overGrant: { notAudited: expect.any(String) } })
    expect(rank).toEqual({ column: 'time', best: 'least' })
  })

  it('in the mixed load the run is the audit, and denials that are too many are shown, not wrong', () => {
    const measured = [
      { contestant: 'map', timed: timed('Map', [10]), verdicts: right },
      { contestant: 'flexible', timed: timed('flexible', [10]), verdicts: { ...right, under: 2 } },
      { contestant: 'hono-store', timed: timed('hono', [10]), verdicts: { ...right, over: 5 } },
    ] as const
    const { rows } = peersTable(scenarioOf('mixed'), 1_000, measured, grants)
    expect(rows.map(isWrong)).toEqual([false, false, true])
    expect(rows[1]).toMatchObject({ cells: { under: 2 }, overGrant: 0 })
    expect(rows[2]).toMatchObject({ overGrant: 5 })
  })

  it('memory and pauses are those of the worst run', () => {
    const run = (bytesPerKey: number, ms: number): PeerHoldResult => ({
      bytesPerKey,
      longestCall: ms,
      longestCollection: ms,
      major: { count: ms, ms },
      refused: 0,
    })
    const { rows } = heldTable(100, new Map([['map', [run(90, 5), run(100, 2)]]]), grants)
    expect(rows).toMatchObject([{ cells: { bytes: 100, call: 5, pause: 5, major: 5, majorMs: 5 }, overGrant: 0, wrongAnswers: 0 }])
  })
})
