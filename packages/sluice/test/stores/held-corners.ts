import { expect } from 'vitest'
import type { AnyLimit } from '../../src/algorithms/algorithm.ts'
import { fixedWindow } from '../../src/algorithms/fixed-window.ts'
import { slidingWindowCounter } from '../../src/algorithms/sliding-window-counter.ts'
import { slidingWindowLog } from '../../src/algorithms/sliding-window-log.ts'
import { tokenBucket } from '../../src/algorithms/token-bucket.ts'
import type { Call, HoldChange, StateId } from '../../src/stores/store.ts'
import { changeBoth, decideBoth, type Pair, START } from '../../src/testing/store-suite/bench.ts'
import { heldGroup, settlementOf } from '../../src/testing/store-suite/held.ts'
import { Reference } from '../../src/testing/reference.ts'
import type { Micros } from '../../src/time/micros.ts'

const SECOND = 1_000_000

/** One key in a store, and in a reference that belongs to this key alone. All answers and states of the two are compared. */
interface Corner {
  readonly reserve: (id: string, micro: number, now: Micros) => Promise<void>
  /** Returns what was charged, in micro-tokens. */
  readonly settle: (id: string, micro: number, now: Micros) => Promise<number | undefined>
  readonly penalize: (micro: number, now: Micros) => Promise<void>
  readonly reset: () => Promise<void>
  /** The same key under another limit. */
  readonly changedTo: (limit: AnyLimit) => Corner
}

export type ReadNumbers = (id: StateId) => Promise<readonly number[] | undefined>

function cornerOf({ store, reference }: Pair, numbersOf: ReadNumbers, limit: AnyLimit, key: string): Corner {
  const pair = { store, reference }
  const call = (cost: number): Call => ({ id: { scope: { text: `corner:${limit.algorithm.tag}:` }, key }, limit, cost, phase: 0 })
  const same = async (): Promise<void> => {
    const { id } = call(0)
    expect(await numbersOf(id)).toEqual(reference.numbersOf(id))
  }
  return {
    async reserve(id, micro, now) {
      const [answers, expected] = await decideBoth(pair, [heldGroup([call(micro)], id, 60 * SECOND)], now)
      expect(answers).toEqual(expected)
      expect(answers[0]?.outcome).toBe('allowed')
      await same()
    },
    async settle(id, micro, now) {
      const [result] = await changeBoth(pair, [settlementOf([call(0)], id, micro) as HoldChange], now)
      await same()
      return result?.hold?.parts[0]?.charged
    },
    async penalize(micro, now) {
      await changeBoth(pair, [{ kind: 'adjust', call: call(0), amount: -micro }], now)
      await same()
    },
    async reset() {
      await changeBoth(pair, [{ kind: 'reset', id: call(0).id }], START)
    },
    changedTo: (other) => cornerOf(pair, numbersOf, other, key),
  }
}

/** Cases of holds that random traces do not find, by name. */
export const CORNERS: Readonly<Record<string, (corner: (limit: AnyLimit) => Corner) => Promise<void>>> = {
  async 'a bucket that is empty by less than a millionth of a token at this microsecond'(corner) {
    const later = START + 142_857
    for (const micro of [999_998, 999_999, 1_000_000, 1_000_001, 13_000_000, 25_999_998, 25_999_999, 26_000_000]) {
      const { reserve, settle, penalize } = corner(tokenBucket({ rate: '7/s', burst: 13 }))
      await reserve('h', 13 * SECOND, START)
      await penalize(SECOND, later)
      await settle('h', micro, later)
    }
  },
  async 'a bucket that is taken to one burst below empty, and not below'(corner) {
    for (const more of [12_999_999, 13_000_000, 13_000_001, 20_000_000, 26_000_000, 26_000_001]) {
      const { reserve, settle, penalize } = corner(tokenBucket({ rate: '7/s', burst: 13 }))
      await reserve('h', 3 * SECOND, START)
      await penalize(more, START + 5)
      await settle('h', 10 * SECOND, START + 6)
      await penalize(SECOND, START + 7)
    }
  },
  async 'a bucket that is full after a settlement, or nearly'(corner) {
    for (const limit of [tokenBucket({ rate: '10/s', burst: 10 }), tokenBucket({ rate: '7/s', burst: 13 })]) {
      const all = Math.round(limit.capacity * SECOND)
      for (const at of [START, START + 1, START + 500_000, START + 900_000]) {
        for (const more of [0, 1, 2]) {
          const { reserve, settle, penalize } = corner(limit)
          await reserve('h', all, START)
          if (more > 0) await penalize(more, at)
          await settle('h', 0, at)
          await penalize(SECOND, at + 1)
        }
      }
    }
  },
  async 'a bucket whose limit was changed, settled before and after the time that its old limit takes to fill it'(corner) {
    for (const rate of ['7/s', '1/10s']) {
      for (const at of [START + 9 * SECOND, START + 10 * SECOND]) {
        // Nothing, a charge, or a refund that fills the bucket meanwhile.
        for (const meanwhile of [0, SECOND, -20 * SECOND]) {
          const old = corner(tokenBucket({ rate, burst: 13 }))
          await old.reserve('old', SECOND, START)
          const { reserve, settle, penalize } = old.changedTo(tokenBucket({ rate: '1/s', burst: 20 }))
          await reserve('h', 5 * SECOND, START)
          if (meanwhile !== 0) await penalize(meanwhile, START + 1)
          // The hold used one micro-token, so more goes back than the bucket had room for since the charge.
          await settle('h', 1, at)
          await penalize(SECOND, at + 1)
        }
      }
    }
  },
  async 'the window before, which has no more room than twice the limit'(corner) {
    const limit = slidingWindowCounter({ limit: 10, window: '1s' })
    const end = START - (START % SECOND) + SECOND
    for (const [first, more, charged] of [
      [19, 5, 1],
      [18, 5, 2],
      [10, 5, 5],
      [10, 30, 10],
    ] as const) {
      const { reserve, settle } = corner(limit)
      await reserve('a', SECOND, START)
      await reserve('b', SECOND, START)
      expect(await settle('a', first * SECOND, START)).toBe(first * SECOND)
      expect(await settle('b', more * SECOND, end + 900_000)).toBe(charged * SECOND)
    }
  },
  async 'a counter whose window of the charge is the one before, the current one, or past'(corner) {
    const limit = slidingWindowCounter({ limit: 10, window: '1s' })
    const begin = START - (START % SECOND) + SECOND
    for (const at of [begin - 1, begin]) {
      for (const then of [begin + SECOND - 1, begin + SECOND, begin + 2 * SECOND - 1, begin + 2 * SECOND, begin + 3 * SECOND]) {
        for (const used of [0, 1, 2, 3, 30]) {
          const { reserve, settle } = corner(limit)
          await reserve('a', 2 * SECOND, at)
          await settle('a', used * SECOND, then)
        }
      }
    }
  },
  async 'a window, a counter and a log that were reset meanwhile'(corner) {
    for (const limit of [
      fixedWindow({ limit: 10, window: '1s' }),
      slidingWindowCounter({ limit: 10, window: '1s' }),
      slidingWindowLog({ limit: 10, window: '1s' }),
    ]) {
      for (const used of [0, 1, 2, 3, 30]) {
        const { reserve, settle, reset } = corner(limit)
        await reserve('h', 2 * SECOND, START)
        await reset()
        await settle('h', used * SECOND, START + 1)
      }
    }
  },
  async 'a bucket that was reset meanwhile, from its largest short numbers on'(corner) {
    for (const [limit, cost] of [
      [tokenBucket({ rate: '255/s', burst: 255 }), 51_000_000],
      [tokenBucket({ rate: '256/s', burst: 255 }), 64_000_192],
      [tokenBucket({ rate: '100/s', burst: 256 }), 1_000_000],
      [tokenBucket({ rate: '1/s', burst: 20 }), 20_000_000 - 16_777_215],
      [tokenBucket({ rate: '1/s', burst: 20 }), 20_000_000 - 16_777_216],
      [tokenBucket({ rate: '16777215/s', burst: 1_000_000 }), 1_000_000],
      [tokenBucket({ rate: '16777216/s', burst: 1_000_000 }), 1_000_000],
      [tokenBucket({ rate: '1000000/s', burst: '1099511.627775' }), 1_000_000],
      [tokenBucket({ rate: '1000000/s', burst: '1099511.627776' }), 1_000_000],
      [tokenBucket({ rate: '1/2s', burst: 600_000 }), 50_244_186_113],
      [tokenBucket({ rate: '1/2s', burst: 600_000 }), 50_244_186_112],
      [tokenBucket({ rate: '1/2s', burst: 600_000 }), 50_244_186_111],
    ] as const) {
      const { reserve, settle, reset } = corner(limit)
      await reserve('fresh', 1, START)
      await reset()
      await settle('fresh', cost + 1, START)
      const again = corner(limit)
      await again.reserve('less', cost + 1, START)
      await again.settle('less', cost, START)
    }
  },
}

/** Runs a case on a store. */
export async function runCorner(store: Pair['store'], numbersOf: ReadNumbers, name: string): Promise<void> {
  let made = 0
  const reference = new Reference()
  await CORNERS[name]?.((limit) => cornerOf({ store, reference }, numbersOf, limit, `${name} ${(made += 1)}`))
}
