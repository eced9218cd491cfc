import type { AlgorithmTag, AnyLimit } from '../../src/algorithms/algorithm.ts'
import { toMicroTokens } from '../../src/algorithms/decimal.ts'
import type { Align } from '../../src/algorithms/fixed-window-plan.ts'
import { fixedWindow } from '../../src/algorithms/fixed-window.ts'
import { slidingWindowCounter } from '../../src/algorithms/sliding-window-counter.ts'
import { slidingWindowLog } from '../../src/algorithms/sliding-window-log.ts'
import { tokenBucket } from '../../src/algorithms/token-bucket.ts'
import { parseDuration } from '../../src/time/duration.ts'
import { BUCKETS } from './arbitraries.ts'
import { FixedWindowOracle } from './oracles/fixed-window.ts'
import type { Oracle } from './oracles/oracle.ts'
import { CounterOracle } from './oracles/sliding-window-counter.ts'
import { LogOracle } from './oracles/sliding-window-log.ts'
import { BucketOracle } from './oracles/token-bucket.ts'

/**
 * One limit, for the library's algorithm and for the oracle, which is an independent exact computation. Both are made from the same text.
 */
export interface LawCase {
  readonly name: string
  readonly limit: AnyLimit
  readonly phase: number
  oracle(): Oracle
}

/** All limits of one algorithm that the laws are tested on. */
export interface LawCases {
  readonly algorithm: string
  readonly tag: AlgorithmTag
  readonly cases: readonly LawCase[]
  /** A limit of ten tokens. A state that is charged now equals the initial state one or two seconds later. */
  ten(): AnyLimit
  /** How many numbers a state of this algorithm has in the memory store's table. Absent for logs. */
  readonly width?: number
}

const micro = (text: string): bigint => BigInt(toMicroTokens(text) as number)
const micros = (text: string): bigint => BigInt(parseDuration(text))

function bucket({ tokens, per, burst }: (typeof BUCKETS)[number]): LawCase {
  return {
    name: `${tokens} per ${per}, burst ${burst}`,
    limit: tokenBucket({ rate: { tokens, per }, burst }),
    phase: 0,
    oracle: () => new BucketOracle({ micro: micro(tokens), per: micros(per), burst: micro(burst) }),
  }
}

function fixed(limit: string, window: string, align: Align = 'clock', ramp?: string, phase = 0): LawCase {
  return {
    name: `${limit} in ${window}, by ${align}${phase === 0 ? '' : ` ${phase}`}${ramp === undefined ? '' : `, ramp ${ramp}`}`,
    limit: fixedWindow({ limit, window, align, ...(ramp === undefined ? {} : { ramp }) }),
    phase,
    oracle: () =>
      new FixedWindowOracle({
        limit: micro(limit),
        window: micros(window),
        align,
        ramp: ramp === undefined ? 0n : micros(ramp),
        phase: BigInt(phase),
      }),
  }
}

function counter(limit: string, window: string): LawCase {
  return {
    name: `${limit} in ${window}`,
    limit: slidingWindowCounter({ limit, window }),
    phase: 0,
    oracle: () => new CounterOracle({ limit: micro(limit), window: micros(window) }),
  }
}

function log(limit: string, window: string): LawCase {
  return {
    name: `${limit} in ${window}`,
    limit: slidingWindowLog({ limit, window }),
    phase: 0,
    oracle: () => new LogOracle({ limit: micro(limit), window: micros(window) }),
  }
}

export const ALGORITHMS: readonly LawCases[] = [
  { algorithm: 'token bucket', tag: 'tb', width: 3, cases: BUCKETS.map(bucket), ten: () => tokenBucket({ rate: '10/s', burst: 10 }) },
  {
    algorithm: 'fixed window',
    tag: 'fw',
    width: 2,
    cases: [
      fixed('10', '1s'),
      fixed('3', '1s', 'first'),
      fixed('7', '1s', 'key', undefined, 1),
      fixed('333', '1s', 'key', undefined, 2_863_311_531),
      fixed('1', '1d', 'first'),
      fixed('1', '1d', 'key', undefined, 4_294_967_295),
      fixed('5000', '1h', 'clock', '10min'),
      fixed('1000000', '1s', 'clock', '100ms'),
      fixed('2.5', '333ms', 'key', '332999us', 123_456_789),
      fixed('0.5', '1min', 'clock', '7s'),
      fixed('17', '1234567us', 'key', '77us', 3_000_000_000),
      fixed('99.999999', '1234567us', 'first'),
      fixed('4503599627', '36525d'),
    ],
    ten: () => fixedWindow({ limit: 10, window: '1s' }),
  },
  {
    algorithm: 'sliding window counter',
    tag: 'sc',
    width: 3,
    cases: [
      counter('10', '1s'),
      counter('3', '1s'),
      counter('7', '7s'),
      counter('333', '1s'),
      counter('1', '1d'),
      counter('5000', '1h'),
      counter('1000000', '1s'),
      counter('2.5', '333ms'),
      counter('0.5', '1min'),
      counter('99.999999', '1234567us'),
      counter('4503599627', '1s'),
      counter('1', '28383d'),
    ],
    ten: () => slidingWindowCounter({ limit: 10, window: '1s' }),
  },
  {
    algorithm: 'sliding window log',
    tag: 'sl',
    cases: [
      log('10', '1s'),
      log('3', '1s'),
      log('7', '7s'),
      log('333', '1s'),
      log('1', '1d'),
      log('10000', '10ms'),
      log('2.5', '333ms'),
      log('0.5', '1min'),
      log('99.999999', '1234567us'),
      log('2', '36525d'),
    ],
    ten: () => slidingWindowLog({ limit: 10, window: '1s' }),
  },
]

/** The first number of a table's rows, for `describe.each`. */
export const TABLE: [string, LawCases][] = ALGORITHMS.map((entry) => [entry.algorithm, entry])
