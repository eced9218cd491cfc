import type { Store } from 'sluice'
import type { Audit } from './audit/report.ts'
import type { CountKeys } from './key-count.ts'

export interface OpenStore {
  /**
   * The store without a ring (batches, breaker and caches around a remote store). The service adds a ring by `surrounded`, but `verify`
   * tests the store itself.
   */
  readonly store: Store
  /** The URL without its password, so it may be printed. */
  readonly name: string
  /** One line for each doubtful setting of the server, once it is reached; empty if the server does not report its settings. */
  advise?(): Promise<readonly string[]>
  /** Reads the server and its states, and writes nothing. It connects by itself, so the store need not have connected before. */
  audit?: Audit
  /** Estimates how many states a store on a server holds. Absent for a store that knows their number (`size`). */
  readonly countKeys?: CountKeys
  /** Describes how states are kept and shared. */
  readonly keeps: string
  /**
   * Makes or updates the tables of a store that has some. On request it also makes the compatibility function
   * `rate_limiting_token_bucket_request`.
   */
  migrate?(options: Readonly<Record<'compatFunction' | 'prune' | 'force', boolean>>): Promise<void>
  /** Deletes the tables of a separate `space`, and a folder that was made for it. Resetting the states deletes neither. */
  discard?(): Promise<void>
  /** Closes the store, and aborts calls to a server that does not answer. */
  close(): Promise<void>
}

/** A store with its client, before its first call. */
export interface Opening extends Omit<OpenStore, 'name'> {
  /** Connects, and makes the tables of a store that has some. It is called again after a failure. */
  begin(): Promise<void>
  /** The client's last error, if it says more than the rejection. */
  reason?(): Error | undefined
}

export interface OpenRequest {
  readonly url: string
  /** Milliseconds that a client may take to connect. */
  readonly connectMs: number
  /** Isolates the states from others in the same store, by a prefix or schema of this name: lower-case letters, digits and `_`. */
  readonly space: string | undefined
  /** The folder at which relative file names in the URL start. */
  readonly folder: string
}

/** Makes a store of one kind; rejects for a URL or a file that cannot be used. */
export type Opener = (request: OpenRequest) => Promise<Opening>

/** Milliseconds of silence after which a new connection replaces a silent one. No caller waits that long for an answer. */
export const SILENCE_MS = 1_000
