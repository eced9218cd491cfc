import type { TraceEntry } from 'sluice/testing'
import type { Wire } from '../wire.ts'

/** What every key may have: `tokens` per second, minute or day, `burst` at once; every request costs 1. */
export interface Quota {
  readonly tokens: number
  readonly per: '1s' | '1m' | '1d'
  readonly burst: number
}

/** A contestant connected to the server and warmed up, for one quota. */
export interface Running {
  readonly wire: Wire
  /** Asks as its users would, without another promise around it; rejects where nothing could be decided. */
  invoke(key: string, caller: number): Promise<unknown>
  /** Whether the request may pass. @throws where the answer says that nothing could be decided */
  passed(answer: unknown): boolean
  /** What was admitted, on the server's clock; there where `note` was requested. */
  readonly admitted?: readonly TraceEntry[]
  /** Forgets these keys and closes the connections. */
  close(keys: readonly string[]): Promise<void>
}

/** One way of keeping a limit in Redis. */
export interface Contestant {
  readonly name: string
  /**
   * What it promises: a token bucket, or `burst` in every window of `burst / rate`, which is twice that across a boundary. Default
   * `bucket`.
   */
  readonly promise?: 'bucket' | 'window'
  /**
   * How `admitted` learns the server's time: each decision reports it (`reported`); it is read in the same program or right after the write
   * (`read`, the default); or right before the request on the same connection (`before`), which may be a few commands early.
   */
  readonly instants?: 'reported' | 'read' | 'before'
  /** Rejects where the server does not answer. */
  open(url: string, quota: Quota, options: OpenOptions): Promise<Running>
}

export interface OpenOptions {
  /** Callers are numbered from 0 to `callers - 1`. */
  readonly callers: number
  /** Fill `admitted`; left out where time is measured. */
  readonly note?: boolean
}

/** How long a contestant's bucket outlives its last request, in milliseconds. */
export const TIME_TO_LIVE = 60_000

/** Of those whose answer is that already. */
export function isTrue(answer: unknown): boolean {
  return answer === true
}

const SECONDS = { '1s': 1, '1m': 60, '1d': 86_400 } as const

export function perSecondOf({ tokens, per }: Quota): number {
  return tokens / SECONDS[per]
}

/** How long the whole burst takes to come back, in seconds: the window of those who count in windows. */
export function windowOf({ tokens, per, burst }: Quota): number {
  return (burst * SECONDS[per]) / tokens
}
