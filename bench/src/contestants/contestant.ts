import type { TraceEntry } from 'sluice/testing'
import type { Wire } from '../wire.ts'

/** The limit of every key: `tokens` per second, minute or day, and `burst` at once. Every request costs 1. */
export interface Quota {
  readonly tokens: number
  readonly per: '1s' | '1m' | '1d'
  readonly burst: number
}

/** A contestant connected to the server and warmed up, for one quota. */
export interface Running {
  readonly wire: Wire
  /** Makes one request as users of the contestant would, without an additional promise. Rejects if no decision was possible. */
  invoke(key: string, caller: number): Promise<unknown>
  /** Whether the request may pass. @throws if the answer says that no decision was possible */
  passed(answer: unknown): boolean
  /** The admitted requests, by the server's clock. Present if `note` was set; with `all` the denied ones are here, too. */
  readonly admitted?: readonly TraceEntry[]
  /** Deletes these keys and closes the connections. */
  close(keys: readonly string[]): Promise<void>
}

export type ContestantKind = 'ours' | 'baseline' | 'peer' | 'floor'

/**
 * The limit that a contestant promises. `bucket` (default): a token bucket. `window`: `burst` tokens in every window of `burst / rate`, so
 * up to twice as many around the end of a window. `counter`: an estimate of the requests in the last window, at most `burst` and the
 * refill in any interval. `log`: `burst` tokens in any interval of a window's length.
 */
export type Promised = 'bucket' | 'window' | 'counter' | 'log'

/** One way of keeping a limit in Redis. */
export interface Contestant {
  readonly name: string
  /**
   * Sluice (`ours`); a limiter that the documents show (`baseline`); another library (`peer`); or code that does less than any limiter must
   * (`floor`).
   */
  readonly kind: ContestantKind
  readonly promise?: Promised
  /**
   * How `admitted` gets the server's time. `reported`: each decision reports it. `read` (default): the time is read in the same program,
   * or directly after the write. `before`: the time is read directly before the request on the same connection, and may be a few commands
   * early.
   */
  readonly instants?: 'reported' | 'read' | 'before'
  /**
   * `client`: the contestant decides by the time that the client sends, in milliseconds. A request may then pass some milliseconds before
   * its token is refilled by the server's clock, so only whole requests count as over-grant. Default `server`.
   */
  readonly clock?: 'client' | 'server'
  /** Connects to the server; rejects if it does not answer. */
  open(url: string, quota: Quota, options: OpenOptions): Promise<Running>
}

export interface OpenOptions {
  /** Callers are numbered from 0 to `callers - 1`. */
  readonly callers: number
  /** Whether to fill `admitted`; not set when time is measured. `all` is for the contestants of the part `clocks` only. */
  readonly note?: boolean | 'all'
  /** The client's clock, milliseconds since 1970; default `Date.now`. It is passed to the contestants of the part `clocks` only. */
  readonly clock?: () => number
  /** The deadline of a request, milliseconds; default that of the contestant, if it has one. */
  readonly deadlineMs?: number
  /** A connection that this limiter shares with others of the same kind, as in an application. Default: a connection of its own. */
  readonly wire?: Wire
}

/** Milliseconds for which a contestant keeps a bucket after its last request. */
export const TIME_TO_LIVE = 60_000

/** `passed` for contestants whose answer is a boolean. */
export function isTrue(answer: unknown): boolean {
  return answer === true
}

const SECONDS = { '1s': 1, '1m': 60, '1d': 86_400 } as const

export function perSecondOf({ tokens, per }: Quota): number {
  return tokens / SECONDS[per]
}

/** Seconds in which the whole burst is refilled. It is the window of contestants that count in windows. */
export function windowOf({ tokens, per, burst }: Quota): number {
  return (burst * SECONDS[per]) / tokens
}
