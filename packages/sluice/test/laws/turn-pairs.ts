import { type Align, shiftOf } from '../../src/algorithms/fixed-window-plan.ts'
import { fixedWindow } from '../../src/algorithms/fixed-window.ts'
import { slidingWindowCounter } from '../../src/algorithms/sliding-window-counter.ts'
import { slidingWindowLog } from '../../src/algorithms/sliding-window-log.ts'
import { tokenBucket } from '../../src/algorithms/token-bucket.ts'
import { MIDNIGHT } from './traces/trace.ts'
import { greediest, type Promised, type Turn } from './turns.ts'

/** Whole numbers below `end`, the same ones for the same seed. */
export type Random = (end: number) => number

export function randomOf(seed: number): Random {
  let state = seed >>> 0
  return (end) => {
    state = (state + 0x6d2b79f5) >>> 0
    let bits = Math.imul(state ^ (state >>> 15), state | 1)
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61)
    return ((bits ^ (bits >>> 14)) >>> 0) % end
  }
}

const MS = 1_000

export function fixed(limit: number, length: number, align: Align, ramp = 0): Turn {
  const window = `${length}us`
  const ramped = ramp === 0 ? {} : { ramp: `${ramp}us` }
  const name = `${limit} in ${length / MS} ms by ${align}${ramp === 0 ? '' : `, ramp ${ramp / MS} ms`}`
  return { name, limit: fixedWindow({ limit, window, align, ...ramped }), length, align }
}

function counter(limit: number, length: number): Turn {
  return {
    name: `counter ${limit} in ${length / MS} ms`,
    limit: slidingWindowCounter({ limit, window: `${length}us` }),
    length,
    align: 'clock',
  }
}

function log(limit: number, length: number): Turn {
  return { name: `log ${limit} in ${length / MS} ms`, limit: slidingWindowLog({ limit, window: `${length}us` }), length, align: 'first' }
}

function bucket(tokens: number, per: number, burst: number): Turn {
  const limit = tokenBucket({ rate: { tokens, per: `${per}us` }, burst })
  return { name: `bucket ${tokens} per ${per / MS} ms, burst ${burst}`, limit, length: Math.ceil((burst * per) / tokens), align: 'first' }
}

/** Window lengths: some divide each other and some do not, some are nearly the same, and some are no whole seconds. */
const LENGTHS = [1_000, 2_000, 3_000, 5_000, 6_000, 7_000, 9_999, 10_000, 10_001, 12_000, 15_000, 20_000, 60_000, 1_234, 7_777].map(
  (length) => length * MS,
)
const LIMITS = [1, 2, 3, 5, 8, 10, 29, 60, 100, 590]

/**
 * Limits for windows of a second or more. In a window of a minute, such limits of a second add up to more micro-tokens than exact whole
 * numbers can count.
 */
const LARGE_LIMITS = [4_503_599_627, 4_503_599_627, 4_000_000_000, 2_251_799_814, 1_500_000_000, 500_000_000, 200_000_000, 1]

export const FAMILIES: Readonly<Record<string, (random: Random) => Turn>> = {
  'fixed windows': (random) => {
    const length = pick(random, LENGTHS) + (random(8) === 0 ? 1 : 0)
    const align = pick<Align>(random, ['clock', 'clock', 'first', 'key'])
    const ramp = align === 'first' || random(4) > 0 ? 0 : Math.ceil(length / pick(random, [2, 3, 10, 1.01]) / 100_000) * 100_000
    return fixed(pick(random, LIMITS), length, align, ramp < length ? ramp : 0)
  },
  'fixed windows with large limits': (random) => {
    const [length, align] = [pick(random, LENGTHS), pick<Align>(random, ['clock', 'clock', 'first', 'key'])]
    return fixed(pick(random, LARGE_LIMITS), length, align)
  },
  counters: (random) => counter(pick(random, LIMITS), pick(random, LENGTHS)),
  logs: (random) => log(pick(random, LIMITS), pick(random, LENGTHS)),
  buckets: (random) => bucket(pick(random, LIMITS), pick(random, LENGTHS), pick(random, LIMITS)),
}

function pick<T>(random: Random, values: readonly T[]): T {
  return values[random(values.length)] as T
}

/**
 * Draws the instants at which a greedy caller calls: at the ends of windows, a microsecond or a third of a window before and after these,
 * and at any time. Some are one window length later.
 */
export function instantsOf(random: Random, [one, other]: readonly [Turn, Turn], phase: number, count: number): number[] {
  const longest = Math.max(one.length, other.length)
  const start = MIDNIGHT + random(3 * longest)
  const end = start + Math.ceil(longest * (2.2 + random(25) / 10))
  const found = new Set<number>([start])
  const some: number[] = []
  for (const { length, align } of [one, other]) {
    const shift = align === 'key' ? shiftOf(length, phase) : 0
    const ends: number[] = []
    for (let at = Math.floor((start - shift) / length) * length + shift; at < end + length; at += length) ends.push(at)
    while (ends.length > 12) ends.splice(random(ends.length), 1)
    some.push(...ends)
  }
  for (let extra = 0; extra < 3; extra += 1) some.push(start + random(end - start))
  const near = [-1, 0, 0, 1, -Math.floor(one.length / 3), Math.floor(one.length / 3)]
  while (found.size < count) {
    let at = pick(random, some) + pick(random, near)
    if (random(3) === 0) at += pick(random, [one.length, other.length, one.length - 1, other.length - 1])
    if (random(12) === 0) some.push(start + random(end - start))
    if (at >= start && at <= end) found.add(at)
    else if (random(50) === 0) found.add(start + random(end - start))
  }
  return [...found].sort((a, b) => a - b)
}

/**
 * Draws instants over many windows of the longer limit, because what each window admits too much adds up. They are the ends of both limits'
 * windows, a microsecond before each, and two instants that recur in every window.
 */
function longInstantsOf(random: Random, pair: readonly [Turn, Turn], phase: number, windows: number): number[] {
  const [longest, shortest] = [Math.max(pair[0].length, pair[1].length), Math.min(pair[0].length, pair[1].length)]
  const start = MIDNIGHT + random(3 * longest)
  const end = start + windows * longest
  const found = new Set<number>([start])
  for (const { length, align } of pair) {
    const shift = align === 'key' ? shiftOf(length, phase) : 0
    // Of many short windows, some.
    const every = 8 * length < longest ? Math.ceil(longest / length / 6) : 1
    for (let at = Math.floor((start - shift) / length) * length + shift; at < end; at += length) {
      if (random(every) === 0) found.add(at - 1).add(at)
    }
  }
  for (const offset of [random(longest), random(longest)]) {
    for (let at = start + offset; at < end; at += longest) found.add(at).add(at + random(2) * shortest)
  }
  return [...found].filter((at) => at >= start && at <= end).sort((a, b) => a - b)
}

/** Two plans of one algorithm. */
function pairOf(random: Random, family: (random: Random) => Turn): readonly [Turn, Turn] {
  return [family(random), family(random)]
}

/** One pair of limits, and the most that a caller of both got, divided by the promised bound. */
export interface Searched {
  readonly pair: string
  readonly promised: Promised
  readonly ratio: number
}

/** Searches random pairs of limits, over a few windows or over many. With the same arguments it searches the same pairs. */
export function* searched(
  family: (random: Random) => Turn,
  { pairs, instants, width, windows }: { pairs: number; width: number; instants?: number; windows?: number },
): Generator<Searched> {
  for (let seed = 0; seed < pairs; seed += 1) {
    const random = randomOf(7_919 * seed + 13)
    const pair = pairOf(random, family)
    const phase = 2 * random(2 ** 31)
    const times = windows === undefined ? instantsOf(random, pair, phase, instants ?? 32) : longInstantsOf(random, pair, phase, windows)
    for (const promised of ['turns', 'meeting', 'any'] as const) {
      const { ratio } = greediest(pair, promised, times, phase, width)
      yield { pair: `seed ${seed}: ${pair[0].name}, ${pair[1].name}`, promised, ratio }
    }
  }
}
