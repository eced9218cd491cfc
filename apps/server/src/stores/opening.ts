import type { Store } from 'sluice'

export interface OpenStore {
  readonly store: Store
  /** The URL as it may be printed: without a password. */
  readonly name: string
  /** What is probably not meant about the server, once it is reached, one line each; empty where it does not say. */
  advise?(): Promise<readonly string[]>
  /** What a reader must know about keeping and sharing of states. */
  readonly keeps: string
  /** Makes or updates the tables, where there are some, and on request the function of the article. */
  migrate?(options: { readonly compatFunction: boolean; readonly prune: boolean; readonly force: boolean }): Promise<void>
  /** Takes away what only a space of its own holds: its tables, and a folder that was made for it. */
  discard(): Promise<void>
  /** Also ends what is under way at a server that does not answer. */
  close(): Promise<void>
}

/** A store with its client, before it was asked for anything. */
export interface Opening extends Omit<OpenStore, 'name'> {
  /** Connects, and makes the tables where there are some; called again where it failed. */
  begin(): Promise<void>
  /** What the client said last, where that tells more than what it rejects with. */
  reason?(): Error | undefined
}

/** Milliseconds of silence after which a connection is given up for a new one: nobody waits for its answers any more. */
export const SILENCE_MS = 1_000
