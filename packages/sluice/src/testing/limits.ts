import type { AlgorithmTag, AnyLimit } from '../algorithms/algorithm.ts'
import { fixedWindow } from '../algorithms/fixed-window.ts'
import { slidingWindowCounter } from '../algorithms/sliding-window-counter.ts'
import { slidingWindowLog } from '../algorithms/sliding-window-log.ts'
import { tokenBucket } from '../algorithms/token-bucket.ts'

/** Limits of every algorithm whose tokens come back with time, with small and large numbers. */
export const LIMITS: readonly AnyLimit[] = [
  tokenBucket({ rate: '10/s', burst: 10 }),
  tokenBucket({ rate: '10/s', burst: 100 }),
  tokenBucket({ rate: '3/s', burst: 1 }),
  tokenBucket({ rate: '7/s', burst: 13 }),
  tokenBucket({ rate: '333/s', burst: 333 }),
  tokenBucket({ rate: '100/min', burst: 20 }),
  tokenBucket({ rate: '5000/h', burst: 5000 }),
  tokenBucket({ rate: '1/day', burst: 3 }),
  tokenBucket({ rate: '1000000/s', burst: 1_000_000 }),
  tokenBucket({ rate: '1234567/d', burst: 1_234_567 }),
  tokenBucket({ rate: '0.333333/7s', burst: '2.5' }),
  tokenBucket({ rate: '333.333333/s', burst: 10_000 }),
  // Fills so slowly that it was last empty before 1970.
  tokenBucket({ rate: '1/365d', burst: 100 }),
  tokenBucket({ rate: '1/d', burst: 20_800 }),
  fixedWindow({ limit: 10, window: '1s' }),
  fixedWindow({ limit: 7, window: '7s', align: 'first' }),
  fixedWindow({ limit: 100, window: '1m', align: 'key' }),
  fixedWindow({ limit: 20, window: '30s', ramp: '10s' }),
  fixedWindow({ limit: '2.5', window: '333ms', align: 'key', ramp: '77777us' }),
  fixedWindow({ limit: 5000, window: '1h' }),
  fixedWindow({ limit: 1, window: '1d', align: 'first' }),
  slidingWindowCounter({ limit: 10, window: '1s' }),
  slidingWindowCounter({ limit: 7, window: '7s' }),
  slidingWindowCounter({ limit: 100, window: '1m' }),
  slidingWindowCounter({ limit: '2.5', window: '333ms' }),
  slidingWindowCounter({ limit: 1_000_000, window: '1h' }),
  slidingWindowCounter({ limit: 1, window: '1d' }),
  slidingWindowLog({ limit: 10, window: '1s' }),
  slidingWindowLog({ limit: 7, window: '7s' }),
  slidingWindowLog({ limit: 50, window: '1m' }),
  slidingWindowLog({ limit: '2.5', window: '333ms' }),
  slidingWindowLog({ limit: 1, window: '1d' }),
]

/** Algorithms whose tokens come back with time. Slots of concurrency limits (`cc`) come back from their holders instead. */
export type TimedTag = Exclude<AlgorithmTag, 'cc'>

type Limits = Readonly<Record<TimedTag, AnyLimit>>

function limitsOf(tokens: number, rate: string, window: string): Limits {
  return {
    tb: tokenBucket({ rate, burst: tokens }),
    fw: fixedWindow({ limit: tokens, window }),
    sc: slidingWindowCounter({ limit: tokens, window }),
    sl: slidingWindowLog({ limit: tokens, window }),
  }
}

/** Used up, these limits are full again within two seconds. */
export const TENS: Limits = limitsOf(10, '10/s', '1s')

export const ALL_TAGS = Object.keys(TENS) as readonly TimedTag[]

/** Used up, these limits are full again within a tenth of a second. */
export const QUICK: Limits = limitsOf(10, '200/s', '50ms')

/** The fixed window is shorter than the windows of the others. */
export const THREES: Limits = { ...limitsOf(3, '1/s', '2s'), fw: fixedWindow({ limit: 3, window: '1s' }) }
