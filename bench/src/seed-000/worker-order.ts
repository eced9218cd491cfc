import type { Quota } from '../contestants/contestant.ts'
import type { Way } from '../redis/ways.ts'

/** A limiter that a worker opens for one order, and closes after it. */
interface Opens {
  readonly url: string
  readonly way: Way
  readonly quota: Quota
  /** The key, or the name in which the keys begin. */
  readonly key: string
}

/** Requests for one key that come at a steady rate from several processes. They begin at `at` (milliseconds since 1970). */
export interface Flood extends Opens {
  readonly perSecond: number
  readonly ms: number
  readonly at: number
}

/** Callers that call again as soon as they are answered, from `at` on. */
export interface Press extends Opens {
  readonly callers: number
  /** Keys in turn; 1 for a single one. */
  readonly keys: number
  readonly ms: number
  readonly at: number
  /** Milliseconds of the same load before `at`, in which nothing is counted. */
  readonly warmUpMs: number
  /** Whether to return the instants of admitted requests. */
  readonly note: boolean
}

export type WorkerOrder =
  | ({ readonly what: 'flood' } & Flood)
  | ({ readonly what: 'press' } & Press)
  | ({ readonly what: 'bursts' } & Opens)
  | ({ readonly what: 'weigh'; readonly keys: number; readonly charges: number } & Opens)

/** What a worker sent, and what passed. */
export interface Sent {
  readonly total: number
  readonly allowed: number
  readonly undecided: number
  /** Requests of the warm-up, which no other field counts. */
  readonly warmedUp: number
  readonly elapsedMs: number
  /** Commands that were sent to the server. */
  readonly commands: number
  /** When each admitted request was, in microseconds of the server's clock; empty if they were not noted. */
  readonly admitted: readonly number[]
}

/** How a limit takes bursts. */
export interface Bursts {
  /** The admitted requests of a first burst, which is as large as the limit. */
  readonly atOnce: number
  /** The admitted requests of an equal burst half a window later. */
  readonly later: number
  /** The requests of all bursts that were not decided. */
  readonly undecided: number
  /** The instants, in microseconds, at which requests were admitted for a key that got bursts around the end of a window. */
  readonly boundary: readonly number[]
  /** As `boundary`, and the instants of further bursts through the whole next window. */
  readonly pressed: readonly number[]
}

/** Bytes of the server's memory for each key, and requests that were not allowed. */
export interface Weight {
  readonly bytesPerKey: number
  readonly refused: number
  /** Keys on the server at the end. */
  readonly keys: number
  /**
   * Present if the charges of a key were its whole limit. It is what one more request of some of the keys admitted, in percent of their
   * limits.
   */
  readonly overPercent?: number
}
