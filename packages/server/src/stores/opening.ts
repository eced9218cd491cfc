import type { Store } from 'sluice'

export interface OpenStore {
  /** Without a ring: the service adds its own (`surrounded`), and `verify` tests the store itself. */
  readonly store: Store
  /** The URL without its password, so it may be printed. */
  readonly name: string
  /** One line for each doubtful setting of the server, once it is reached; empty if the server does not report its settings. */
  advise?(): Promise<readonly string[]>
  /** Describes how states are kept and shared. */
  readonly keeps: string
  /** Makes or updates the tables of a store that has some and, on request, the compatibility function. */
  migrate?(options: Readonly<Record<'compatFunction' | 'prune' | 'force', boolean>>): Promise<void>
  /** Deletes what a separate space holds and a reset leaves: its tables, and a folder that was made for it. */
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
  /** Where relative file names in the URL start. */
  readonly folder: string
}

/** Makes a store of one kind; rejects for a URL or a file that cannot be used. */
export type Opener = (request: OpenRequest) => Promise<Opening>

/** Milliseconds of silence after which a connection is replaced by a new one: by then no caller waits for its answers. */
export const SILENCE_MS = 1_000
