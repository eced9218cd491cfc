import type { Contestant, Quota } from '../contestants/contestant.ts'
import type { Algorithm } from '../contestants/limits.ts'
import type { Way } from '../redis/ways.ts'
import type { OverGrant } from '../result/table.ts'
import type { LaneRounds } from './arrivals.ts'
import type { Climb } from './steps.ts'
import type { Bursts, Sent, Weight } from './worker-order.ts'

/** A limiter (Sluice, a library, or a program written by hand), and the algorithm within which it is compared with others. */
export interface ComparedWay {
  readonly way: Way
  readonly algorithm: Algorithm
  /** The limiter whose measured bytes are also those of this one, because the two differ only in the ring. */
  readonly weighedAs?: Way
}

/** Within an algorithm, programs that people write by hand come first, then other libraries, then Sluice. */
export const COMPARED: readonly ComparedWay[] = [
  { way: 'incr-expire', algorithm: 'fixed-window' },
  { way: 'flexible', algorithm: 'fixed-window' },
  { way: 'express-store', algorithm: 'fixed-window' },
  { way: 'fixed-window-bare', algorithm: 'fixed-window', weighedAs: 'fixed-window' },
  { way: 'fixed-window', algorithm: 'fixed-window' },
  { way: 'zset-log', algorithm: 'sliding-window-log' },
  { way: 'log-bare', algorithm: 'sliding-window-log', weighedAs: 'log' },
  { way: 'log', algorithm: 'sliding-window-log' },
  { way: 'two-counters', algorithm: 'sliding-window-counter' },
  { way: 'counter-bare', algorithm: 'sliding-window-counter', weighedAs: 'counter' },
  { way: 'counter', algorithm: 'sliding-window-counter' },
  { way: 'rate-limit-lua', algorithm: 'token-bucket' },
  { way: 'bare', algorithm: 'token-bucket', weighedAs: 'sluice' },
  { way: 'sluice', algorithm: 'token-bucket' },
]

/** Everything that was measured of one way. */
export interface Compared extends ComparedWay {
  readonly contestant: Contestant
  readonly weight: Weight
  /** Of a log, with more entries. */
  readonly heavier?: Weight
  readonly bursts: Bursts
  readonly flood: readonly Sent[]
  readonly overGrant: OverGrant
  readonly latency: LaneRounds
  readonly climbs: readonly Climb[]
}

interface Terms {
  /**
   * A limit under which no request is denied: each of 10,000 keys has far fewer requests in ten seconds. Its burst is not higher, because a
   * log may not have more entries.
   */
  readonly GENEROUS: Quota
  /** States live for a day, so that none expires before it is measured. */
  readonly LONG: Quota
  /**
   * A limit of an eighth of the requests that the flood sends, with windows of a second. If a limiter limited nothing, it would let at
   * least four times pass what any limiter promises.
   */
  readonly METERED: Quota
  /** Small bursts, so that even a slow machine answers them within their part of the window. */
  readonly BURSTS: Quota
  /** The flood lasts more than two windows of METERED, however short the run is. */
  readonly FLOOD: { readonly perSecond: number; readonly processes: number; readonly ms: number }
  /**
   * The number of keys whose memory is measured, as in the article "Rate Limiting at Scale". Each key is charged CHARGES times; keys of
   * logs are also measured with LOG_ENTRIES charges.
   */
  readonly KEYS: number
  readonly CHARGES: number
  readonly LOG_ENTRIES: number
  /** Arrivals a second while latencies are measured: a load that every limiter can bear on a small machine. */
  readonly ARRIVALS: number
  /** The p99 (milliseconds) at which a limiter no longer scales. */
  readonly BOUND_MS: number
}

/** The terms of the measurements, which the notes state. */
export const TERMS: Terms = {
  GENEROUS: { tokens: 1_000, per: '1s', burst: 10_000 },
  LONG: { tokens: 1_000, per: '1d', burst: 1_000 },
  METERED: { tokens: 625, per: '1s', burst: 625 },
  BURSTS: { tokens: 100, per: '1s', burst: 100 },
  FLOOD: { perSecond: 5_000, processes: 3, ms: 2_500 },
  KEYS: 10_000,
  CHARGES: 2,
  LOG_ENTRIES: 10,
  ARRIVALS: 1_000,
  BOUND_MS: 10,
}
