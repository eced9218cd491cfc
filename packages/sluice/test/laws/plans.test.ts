import { describe, expect, it } from 'vitest'
import type { Cells } from '../../src/algorithms/algorithm.ts'
import { fixedWindow, fixedWindowKernel } from '../../src/algorithms/fixed-window.ts'
import { arrayEntries, type LogState } from '../../src/algorithms/log-state.ts'
import { slidingWindowCounter } from '../../src/algorithms/sliding-window-counter.ts'
import { slidingWindowLog, slidingWindowLogKernel } from '../../src/algorithms/sliding-window-log.ts'
import { LimiterError } from '../../src/errors/limiter-error.ts'
import { seeded } from '../../src/testing/random.ts'
import { TABLE } from './cases.ts'
import { Held } from './held.ts'
import { MIDNIGHT } from './traces/trace.ts'

const S = 1_000_000
const WINDOWS = [
  ['fixedWindow', fixedWindow],
  ['slidingWindowCounter', slidingWindowCounter],
  ['slidingWindowLog', slidingWindowLog],
] as const

/** What a factory refuses, in one line. */
function refusal(make: () => unknown): string {
  try {
    make()
  } catch (error) {
    if (error instanceof LimiterError) return `${error.code}: ${error.message}`
    throw error
  }
  return 'nothing'
}

describe.each(WINDOWS)('%s refuses by name', (name, make) => {
  it.each([0, -5, Number.NaN, 1e309, '0x10', '5 ', '', 1.0000001, 1e16])('a limit of %s', (limit) => {
    expect(refusal(() => make({ limit, window: '1m' }))).toMatch(
      new RegExp(`^INVALID_LIMIT: ${name}: .* is not a limit: expected tokens above 0`),
    )
  })

  it.each([0, -1, Number.NaN, 'soon', '0s', '101y', '36526d'])('a window of %s', (window) => {
    expect(refusal(() => make({ limit: 1, window }))).toMatch(/^INVALID_DURATION: /)
  })

  it('an option it does not know', () => {
    const options = { limit: 1, window: '1m', burst: 5 }
    expect(refusal(() => make(options))).toMatch(/^INVALID_OPTIONS: .*unknown option burst; known are limit, window/)
  })

  it('a limit that whole numbers do not carry, and takes the largest they do', () => {
    const [largest, code] = name === 'slidingWindowLog' ? [10_000, 'INVALID_LIMIT'] : [4_503_599_627, 'LIMIT_NOT_EXACT']
    expect(refusal(() => make({ limit: largest + 1, window: '1s' }))).toMatch(new RegExp(`^${code}: .*${largest}`))
    expect(make({ limit: largest, window: '1s' }).capacity).toBe(largest)
  })
})

describe('fixedWindow refuses by name', () => {
  it('an align that is not one, and a ramp that cannot be', () => {
    const make = (options: object) => refusal(() => fixedWindow({ limit: 10, window: '1m', ...options }))
    expect(make({ align: 'epoch' })).toBe('INVALID_OPTIONS: fixedWindow: align is "epoch", expected clock, first or key')
    expect(make({ ramp: '10s', align: 'first' })).toMatch(/^INVALID_OPTIONS: fixedWindow: ramp goes with align clock or key; /)
    expect(make({ ramp: '1m' })).toBe('INVALID_OPTIONS: fixedWindow: ramp is 1m, expected shorter than the window of 1m')
    expect(make({ ramp: 'slowly' })).toMatch(/^INVALID_DURATION: /)
    expect(make({ ramp: 0 })).toMatch(/^INVALID_DURATION: /)
  })

  it('a ramp that would not be exact', () => {
    const make = (limit: string, ramp: string) => refusal(() => fixedWindow({ limit, window: '1d', ramp }))
    expect(make('999999.999999', '7777777us')).toMatch(
      /^LIMIT_NOT_EXACT: fixedWindow: limit 999999.999999 has too many digits for a ramp of 7777777us/,
    )
    expect(make('1000', '7777777us')).toBe('nothing')
    expect(make('999.999999', '9s')).toBe('nothing')
  })
})

describe('the plan of a fixed window', () => {
  const numbers = (options: object): readonly number[] => {
    const { plan } = fixedWindow({ limit: 30, window: '1m', ...options })
    return fixedWindowKernel.codec.encodePlan(plan)
  }

  it('is six numbers for a program', () => {
    expect(numbers({})).toEqual([30 * S, 60 * S, 0, 0, 0, 1])
    expect(numbers({ align: 'first' })).toEqual([30 * S, 60 * S, 1, 0, 0, 1])
    expect(numbers({ align: 'key', ramp: '20s' })).toEqual([30 * S, 60 * S, 2, 20 * S, 3, 2])
  })

  it('depends on the phase of a key only where it is spread by key', () => {
    for (const align of ['clock', 'first', 'key'] as const) {
      expect(fixedWindow({ limit: 1, window: '1m', align }).phased).toBe(align === 'key')
    }
    expect(slidingWindowCounter({ limit: 1, window: '1m' }).phased).toBe(false)
    expect(slidingWindowLog({ limit: 1, window: '1m' }).phased).toBe(false)
  })

  it('says for how long a limit is, in milliseconds rounded up', () => {
    for (const make of [fixedWindow, slidingWindowCounter, slidingWindowLog]) {
      expect(make({ limit: 1, window: '1m' }).windowMs).toBe(60_000)
      expect(make({ limit: '2.5', window: '1001us' })).toMatchObject({ windowMs: 2, capacity: 2.5 })
    }
  })
})

describe('the quantum of a sliding window counter', () => {
  it.each([
    [10, '10s', 1],
    [4_000_000, '1s', 1],
    [4_503_599_627, '1s', 1],
    [1_000_000, '1h', 10],
    [5_000_000, '1h', 10],
    [1, '35min', 1],
    [1, '36min', 10],
    [1, '1d', 100],
    [1, '28383d', 10_000_000],
    [100, '2147483647us', 1],
    [100, '2147483650us', 10],
  ])('of %s in %s is %s us', (limit, window, quantum) => {
    expect(slidingWindowCounter({ limit, window }).plan).toMatchObject({ quantum })
  })

  it('is refused where there is none, with what is allowed', () => {
    const make = (limit: number, window: string) => refusal(() => slidingWindowCounter({ limit, window }))
    expect(make(1, '2147483649us')).toMatch(/^LIMIT_NOT_EXACT: .*round it to a multiple of 10 us$/)
    expect(make(1, '300000000001us')).toMatch(/round it to a multiple of 1000 us$/)
    expect(make(5_000_000, '2147483647us')).toMatch(/^LIMIT_NOT_EXACT: .*the largest limit in this window is 2097152; /)
    expect(make(2_097_152, '2147483647us')).toBe('nothing')
  })
})

describe.each(TABLE)('what a store gets of a %s', (_, { tag, ten, width, cases }) => {
  const { algorithm, plan } = ten()

  it('is whole numbers, and the same state again', () => {
    expect(algorithm).toMatchObject({ tag })
    expect(Object.isFrozen(algorithm)).toBe(true)
    expect(Object.isFrozen(ten())).toBe(true)
    for (const one of cases) {
      for (const number of one.limit.algorithm.codec.encodePlan(one.limit.plan)) expect(Number.isSafeInteger(number)).toBe(true)
      const held = new Held(one.limit, one.phase)
      held.decide(MIDNIGHT, 1)
      held.decide(MIDNIGHT + 2, 1)
      const numbers = algorithm.codec.encodeState(held.state)
      expect(numbers.every(Number.isSafeInteger)).toBe(true)
      expect(algorithm.codec.encodeState(algorithm.codec.decodeState(numbers))).toEqual(numbers)
    }
  })

  it('is enough to keep it in cells of a table', () => {
    const { cells, codec } = algorithm
    if (cells === 'log') return void expect(width).toBeUndefined()
    const kept = cells as Cells<unknown>
    expect(kept.width).toBe(width)
    const state = algorithm.decide(plan, undefined, MIDNIGHT, 3 * S, 0).next
    const row = new Float64Array(8).fill(-1)
    kept.save(state, row, 2)
    expect([...row.slice(0, 2), ...row.slice(2 + kept.width)].every((cell) => cell === -1)).toBe(true)
    const other = algorithm.decide(plan, undefined, MIDNIGHT + S, 3 * S, 0).next
    expect(kept.samePlan(state, other)).toBe(true)
    const read = algorithm.step().next
    kept.load(other, row, 2, read)
    expect(codec.encodeState(read)).toEqual(codec.encodeState(state))
  })

  it('says how large its envelope is', () => {
    const { n, m, burst } = algorithm.envelope(plan)
    expect((n * S) / m).toBe(10 * S)
    expect(burst).toBe(tag === 'fw' ? 20 * S : 10 * S)
  })

  it('fills the step that is handed in, and makes none', () => {
    const step = algorithm.step()
    expect(algorithm.decide(plan, undefined, MIDNIGHT, S, 0, step)).toBe(step)
    expect(step.state).toBe(step.next)
    const state = algorithm.codec.decodeState(algorithm.codec.encodeState(step.next))
    expect(algorithm.decide(plan, state, MIDNIGHT, 10 * S, 0, step).state).toBe(state)
    expect(algorithm.decide(plan, undefined, MIDNIGHT, 11 * S, 0, step).state).toBeUndefined()
  })
})

describe('the shift of a key', () => {
  it('is floor(phase * window / 2^32), exactly', () => {
    const random = seeded(7)
    for (let count = 0; count < 20_000; count += 1) {
      const window = count % 2 === 0 ? 1 + Math.floor(random() * 3_155_760_000_000_000) : 1 + Math.floor(random() * 1e6)
      const phase = count % 5 === 0 ? 2 ** 32 - 1 - Math.floor(random() * 3) : Math.floor(random() * 2 ** 32)
      const plan = { limit: 1, window, align: 'key', ramp: 0, n: 0, m: 1 } as const
      const { end } = fixedWindowKernel.decide(plan, undefined, MIDNIGHT, 1, phase).next
      const shift = Number((BigInt(phase) * BigInt(window)) / 2n ** 32n)
      expect(end > MIDNIGHT && end <= MIDNIGHT + window && (end - shift) % window === 0).toBe(true)
    }
  })
})

describe('a log', () => {
  it('reads few of its entries, however many there are', () => {
    const looked = (length: number): number => {
      let reads = 0
      const entries = arrayEntries(Array.from({ length: 2 * length }, (_, index) => (index % 2 === 0 ? MIDNIGHT + index : S)))
      const counting = {
        length,
        at: (index: number) => ((reads += 1), entries.at(index)),
        through: (index: number) => ((reads += 1), entries.through(index)),
      }
      const state: LogState = { entries: counting, skip: 0, addedAt: 0, added: 0, merges: false, window: 60 * S, keepFor: 0 }
      const { plan } = slidingWindowLog({ limit: 10_000, window: '1m' })
      for (const cost of [S, 9_999 * S]) slidingWindowLogKernel.decide(plan, state, MIDNIGHT + 30 * S, cost, 0)
      return reads
    }
    expect(looked(9_999)).toBeLessThan(200)
    expect(looked(9_999)).toBeLessThan(5 * looked(9))
  })

  it('holds at most ten thousand entries where it is kept for another window, and drops the oldest of those', () => {
    const [short, long] = [slidingWindowLog({ limit: 3, window: '1ms' }), slidingWindowLog({ limit: 3, window: '1h' })]
    const charged = slidingWindowLogKernel.decide(long.plan, undefined, MIDNIGHT, S, 0).next
    let state = slidingWindowLogKernel.adopt(short.plan, charged, MIDNIGHT, 0) as LogState
    const times = Array.from({ length: 10_000 }, (_, index) => [MIDNIGHT + index * 1_000, S]).flat()
    state = { ...state, entries: arrayEntries(times), added: 0, skip: 0 }
    const now = MIDNIGHT + 10_000_000
    const step = slidingWindowLogKernel.decide(short.plan, state, now, S, 0)
    expect(step).toMatchObject({ outcome: 'allowed', remaining: 2 })
    expect(step.next).toMatchObject({ skip: 1, addedAt: now, merges: false, keepFor: 3_600 * S })
  })
})
