import type { AnyLimit } from '../algorithms/algorithm.ts'
import { fixedWindow } from '../algorithms/fixed-window.ts'
import { slidingWindowCounter } from '../algorithms/sliding-window-counter.ts'
import { slidingWindowLog } from '../algorithms/sliding-window-log.ts'
import { tokenBucket } from '../algorithms/token-bucket.ts'
import { LimiterError } from '../errors/limiter-error.ts'
import { MAX_MICROS, type Micros } from '../time/micros.ts'
import type { TimedTag } from './limits.ts'

const MIN_MICROS: Micros = 1_000
const MAX_TOKENS = 9_007_199_254
const MAX_PER_WINDOW = 4_503_599_627
const MAX_ENTRIES = 10_000

/** Some drawn numbers need more digits than exact integers have, and are refused. */
const TRIES = 1_000

/**
 * A random limit from the whole accepted range: fill times and windows from a millisecond to a hundred years, limits from a millionth of a
 * token to billions.
 */
export function anyLimit(tag: TimedTag, random: () => number): AnyLimit {
  for (let tries = 0; tries < TRIES; tries += 1) {
    try {
      return DRAW[tag](random)
    } catch (error) {
      if (!(error instanceof LimiterError) || error.code !== 'LIMIT_NOT_EXACT') throw error
    }
  }
  throw new Error(`no limit of ${tag} was accepted`)
}

const DRAW: Readonly<Record<TimedTag, (random: () => number) => AnyLimit>> = {
  tb(random) {
    const burst = tokens(random, MAX_TOKENS)
    const fill = time(random)
    const whole = Number(burst)
    // `per` is chosen so that the bucket fills in about `fill` microseconds.
    const rate = random() < 0.5 ? digits(random, 1 + 9_999 * random() ** 4) : burst
    const per = Math.max(1, Math.min(MAX_MICROS, Math.round(odd(random, (fill / whole) * Number(rate)))))
    return tokenBucket({ rate: { tokens: rate, per: `${per}us` }, burst })
  },
  fw(random) {
    const window = time(random)
    const align = (['clock', 'first', 'key'] as const)[Math.floor(random() * 3)] ?? 'clock'
    const ramp =
      align !== 'first' && random() < 0.4
        ? { ramp: `${Math.max(1, Math.min(window - 1, Math.round(odd(random, random() * window))))}us` }
        : {}
    return fixedWindow({ limit: tokens(random, MAX_PER_WINDOW), window: `${window}us`, align, ...ramp })
  },
  sc: (random) => slidingWindowCounter({ limit: tokens(random, MAX_PER_WINDOW), window: `${time(random)}us` }),
  sl: (random) => slidingWindowLog({ limit: tokens(random, MAX_ENTRIES), window: `${time(random)}us` }),
}

/** From a millisecond to a hundred years, equally often for each power of ten; sometimes one of the ends. */
function time(random: () => number): Micros {
  const kind = random()
  if (kind < 0.05) return MIN_MICROS
  if (kind < 0.1) return MAX_MICROS
  const drawn = odd(random, MIN_MICROS * (MAX_MICROS / MIN_MICROS) ** random())
  return Math.max(MIN_MICROS, Math.min(MAX_MICROS, Math.round(drawn)))
}

/** A number from a millionth to `most`, as text. */
function tokens(random: () => number, most: number): string {
  const kind = random()
  if (kind < 0.03) return String(most)
  if (kind < 0.06) return '0.000001'
  if (kind < 0.3) return String(1 + Math.floor(random() * 20))
  return digits(random, Math.max(0.000001, Math.min(most, odd(random, 0.000001 * (most / 0.000001) ** random()))))
}

function digits(random: () => number, value: number): string {
  return value >= 1 && random() < 0.5 ? String(Math.floor(value)) : value.toFixed(6)
}

/** Half of the numbers are rounded to one to three significant digits. */
function odd(random: () => number, value: number): number {
  return random() < 0.5 || !(value > 0) ? value : Number(value.toPrecision(1 + Math.floor(random() * 3)))
}
