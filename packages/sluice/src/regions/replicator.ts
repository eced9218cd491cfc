import type { Random, Time } from '../time/time.ts'
import type { RegionPage, RegionRequest } from './replicator/messages.ts'
import type { RegionalStore } from './regional.ts'
import type { Phase, Transfers } from './rights/state.ts'

/** Options of `replicate`. */
export interface ReplicateOptions {
  /** The store of this region, with `mode: 'escrow'` or `'counters'`. */
  readonly store: RegionalStore
  /**
   * Sends a request to a peer, and returns what `answer` of its replicator returns. Both are plain JSON. It may lose, repeat, delay or reorder
   * them. It must make sure that the peer is who it says. The signal aborts when the answer is not needed any more.
   *
   * Over a store on a server, one process of a region carries its units. The others leave this out: they publish there what their callers
   * need.
   */
  readonly transport?: (peer: string, request: RegionRequest, signal: AbortSignal) => Promise<unknown>
  /** Milliseconds between two pulls of one peer, default 1000, from 100 to 60,000. Each wait is up to a tenth shorter or longer, by chance. */
  readonly periodMs?: number
  /** Milliseconds after which a pull counts as failed, default 5000. */
  readonly timeoutMs?: number
  /**
   * Called for each pull that failed, with the peer that could not be read. The next pull reads again what this one would have read. Also
   * called with the name of this region, when its own store did not answer and what its callers need could not be computed.
   */
  readonly onError?: (peer: string, error: unknown) => void
  /** Default the system's clock. */
  readonly clock?: Time
  /** Draws the waits; default `Math.random`. */
  readonly random?: Random
}

/** What `replicate` passes on. */
export interface CarryOptions {
  readonly transport: ReplicateOptions['transport'] | undefined
  readonly onError: ReplicateOptions['onError'] | undefined
  readonly periodMs: number
  readonly timeoutMs: number
  readonly clock: Time
  readonly random: Random
}

/** Carries units between the regions, so that shares follow the demand. */
export interface Replicator {
  /**
   * Answers a request that a peer's `transport` brought. The caller has made sure that it comes from a region.
   * @throws LimiterError INVALID_OPTIONS for a request that no region sends, CLOSED after `close`; StoreFailure if the region's own store on
   * a server does not answer: the peer tries again
   */
  answer(request: unknown): Promise<RegionPage>
  /** For a page or a check by an operator; it reads no store. Of a store on a server it is as last read. */
  status(): ReplicatorStatus
  /** Ends all pulls, and resolves when none is under way. The store keeps what it holds. */
  close(): Promise<void>
}

/** What a replicator knows. */
export interface ReplicatorStatus {
  /** The name of this region. */
  readonly self: string
  /**
   * As of the store. `learning`: it holds nothing until all peers know it. With `mode: 'counters'`, `open`: it grants whole token buckets;
   * `learning`: it keeps to its parts, because some peer was not read for `cutoffMs`.
   */
  readonly phase: Phase
  /** As of the store; 0 with `mode: 'counters'`, which has no eras. */
  readonly era: number
  /** Thousandths of every token bucket that each region holds at the start of this era; a region that was removed is absent. */
  readonly weights: Readonly<Record<string, number>>
  /** Thousandths of a limit that this region holds of a key that has sent and received nothing. */
  readonly units: number
  /** Keys that have sent or received units in this era. With `mode: 'counters'`: keys whose calls some peer may have to read. */
  readonly cells: number
  /** Counts since the store was started; of a store on a server, those of this process. 0 with `mode: 'counters'`, which sends no units. */
  readonly transfers: Readonly<Transfers>
  /** By name. */
  readonly peers: Readonly<Record<string, PeerStatus>>
}

/** What a replicator knows of one peer. */
export interface PeerStatus {
  /** The life of its store that this region knows; undefined before the first. */
  readonly run: string | undefined
  /** Milliseconds since the start of the latest pull that read all; undefined before the first. */
  readonly lagMs: number | undefined
  /** Milliseconds since this peer last read of this region; undefined before it has. */
  readonly readMs: number | undefined
  /** Pulls that failed since the latest that did not. */
  readonly failures: number
  /** Why the latest pull failed; undefined if it did not. */
  readonly error: string | undefined
}
