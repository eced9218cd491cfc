import type { Store } from 'sluice'
import type { Audit } from './audit/report.ts'
import type { CountKeys } from './key-count.ts'

export interface OpenStore {
  /** Without batching, breaker and caches: `verify` tests the store itself. */
  readonly store: Store
  /** Printable: the URL without its password. */
  readonly name: string
  /** A line for each doubtful setting; empty if the settings cannot be read. */
  advise?(): Promise<readonly string[]>
  /** Absent for a store in this process. */
  audit?: Audit
  /** Absent for a store that knows its `size`. */
  readonly countKeys?: CountKeys
  /** Describes how states are kept and shared. */
  readonly keeps: string
  /** Absent for a store without tables. `compatFunction` also makes `rate_limiting_token_bucket_request`. */
  migrate?(options: Readonly<Record<'compatFunction' | 'prune' | 'force', boolean>>): Promise<void>
  /** Deletes the schema of `OpenRequest.space`, and the database's folder if opening made it. */
  discard?(): Promise<void>
  /** Also aborts calls to a server that does not answer. */
  close(): Promise<void>
}

export interface Opening extends Omit<OpenStore, 'name'> {
  /** Connects and makes the tables. Called again after a failure. */
  begin(): Promise<void>
  /** The client's last error, if it says more than the rejection. */
  reason?(): Error | undefined
}

export interface OpenRequest {
  readonly url: string
  readonly connectMs: number
  /** A prefix or schema that isolates the states: lower-case letters, digits and `_`. */
  readonly space: string | undefined
  /** The folder at which relative file names in the URL start. */
  readonly folder: string
}

/** Rejects for a URL or a file that cannot be used. */
export type Opener = (request: OpenRequest) => Promise<Opening>

/** Milliseconds without data, while an answer is due, after which a Redis connection is replaced (PostgreSQL: twice as long). */
export const SILENCE_MS = 1_000
