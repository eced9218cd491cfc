import type { TraceEntry } from 'sluice/testing'
import type { Wire } from '../wire.ts'

/** The one bucket that all callers of a run ask: `burst` tokens, refilled by `rate` a second; every request costs 1. */
export interface Bucket {
  readonly key: string
  readonly rate: number
  readonly burst: number
}

/** A contestant connected to the server and warmed up, for one bucket. */
export interface Running {
  readonly wire: Wire
  /** Whether the request may pass; rejects where that could not be decided. */
  ask(caller: number): Promise<boolean>
  /** What was admitted, on the store's own clock: where it was asked for and the contestant learns it. */
  readonly admitted?: readonly TraceEntry[]
  /** Removes the bucket and closes the connections. */
  close(): Promise<void>
}

/** One way of keeping a token bucket in Redis. */
export interface Contestant {
  readonly name: string
  /** Rejects where the server does not answer. */
  open(url: string, bucket: Bucket, options: OpenOptions): Promise<Running>
}

export interface OpenOptions {
  /** Callers are numbered from 0 to `callers - 1`. */
  readonly callers: number
  /** Fill `admitted`; left out where time is measured. */
  readonly note?: boolean
}

/** How long a contestant's bucket outlives its last request, in milliseconds. */
export const TIME_TO_LIVE = 60_000
