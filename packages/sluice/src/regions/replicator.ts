import type { Random, Time } from '../time/time.ts'
import type { RegionPage, RegionRequest } from './replicator/messages.ts'
import type { RegionalStore } from './regional.ts'
import type { Phase, Transfers } from './rights/state.ts'

/** Options of `replicate`. */
export interface ReplicateOptions {
  /** With `mode: 'escrow'` or `'counters'`. */
  readonly store: RegionalStore
  /**
   * Sends a request to a peer, and returns what `answer` of the peer's replicator returns; both are plain JSON. It may lose, repeat, delay
   * or reorder them, but must verify that the peer is the region that it says it is. Over a store on a server, only one process of the
   * region needs a transport.
   */
  readonly transport?: ((peer: string, request: RegionRequest, signal: AbortSignal) => Promise<unknown>) | undefined
  /**
   * Milliseconds between two pulls from one peer, default 1000, from 100 to 60,000. Each wait is up to a tenth shorter or longer, at
   * random. At most half of the store's `cutoffMs`.
   */
  readonly periodMs?: number | undefined
  /** Milliseconds after which a pull counts as failed, default 5000. */
  readonly timeoutMs?: number | undefined
  /**
   * Called with the peer for each pull that failed; the next pull reads what this one did not. Also called with the name of this region if
   * its own store did not answer. Errors that it throws, or rejects with, are dropped.
   */
  readonly onError?: ((peer: string, error: unknown) => void) | undefined
  /** The time for pulls and waits; default the system's. */
  readonly clock?: Time | undefined
  /** Random numbers for the waits; default `Math.random`. */
  readonly random?: Random | undefined
}

export interface CarryOptions {
  readonly transport: ReplicateOptions['transport'] | undefined
  readonly onError: ReplicateOptions['onError'] | undefined
  readonly periodMs: number
  readonly timeoutMs: number
  readonly clock: Time
  readonly random: Random
}

/** Carries units between regions, so that shares follow the demand. */
export interface Replicator {
  /**
   * Answers a request of a peer's `transport`. The caller must have verified that the request comes from that region.
   * @throws LimiterError INVALID_OPTIONS for a request that no region sends, CLOSED after `close`; StoreFailure if the region's own store
   * on a server does not answer
   */
  answer(request: unknown): Promise<RegionPage>
  /** For operators. Reads no store: figures of a store on a server are as last read. */
  status(): ReplicatorStatus
  /** Ends all requests to peers, and resolves when none is running. Units (parts of limits) stay in the store. */
  close(): Promise<void>
}

/** What a replicator knows. */
export interface ReplicatorStatus {
  /** The name of this region. */
  readonly self: string
  /**
   * See `RegionalStore.phase`. With `mode: 'counters'`, `open`: whole token buckets are granted; `learning`: only parts, because some peer
   * was not read for `cutoffMs`.
   */
  readonly phase: Phase
  /** How many eras (times of constant weights) the store has begun; 0 with `mode: 'counters'`. */
  readonly era: number
  /** Thousandths of every token bucket that each region holds at the start of this era. A removed region is absent. */
  readonly weights: Readonly<Record<string, number>>
  /** Thousandths that this region holds of a key without sent or received units. */
  readonly units: number
  /** Keys of which units were sent or received in this era. With `mode: 'counters'`: keys whose spent sum some peer may not have read. */
  readonly cells: number
  /** Since the store was started; for a store on a server, by this process. All 0 with `mode: 'counters'`. */
  readonly transfers: Readonly<Transfers>
  /** By the peer's name. */
  readonly peers: Readonly<Record<string, PeerStatus>>
}

/** What a replicator knows of one peer. */
export interface PeerStatus {
  /** The latest known run of the peer's store (one life of it); undefined if none is known. */
  readonly run: string | undefined
  /** Milliseconds since the latest complete pull began; undefined before the first. */
  readonly lagMs: number | undefined
  /** Milliseconds since this peer last read from this region; undefined before. */
  readonly readMs: number | undefined
  /** Failed pulls since the latest successful one. */
  readonly failures: number
  /** Why the latest pull failed; undefined if it did not. */
  readonly error: string | undefined
}
