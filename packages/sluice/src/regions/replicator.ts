import type { Random, Time } from '../time/time.ts'
import type { RegionPage, RegionRequest } from './replicator/messages.ts'
import type { RegionalStore } from './regional.ts'
import type { Phase, Transfers } from './rights/state.ts'

/** Options of `replicate`. */
export interface ReplicateOptions {
  /** The store of this region, with `mode: 'escrow'` or `'counters'`. */
  readonly store: RegionalStore
  /**
   * Sends a request to a peer, and returns what `answer` of the peer's replicator returns. Request and answer are plain JSON. The transport
   * may lose, repeat, delay or reorder them. It must make sure that the peer is the region that it says it is. The signal aborts when the
   * answer is not needed any more.
   *
   * If the store is on a server, only one process of the region needs a transport. The others leave it out: they publish on the server what
   * their callers need.
   */
  readonly transport?: (peer: string, request: RegionRequest, signal: AbortSignal) => Promise<unknown>
  /**
   * Milliseconds between two pulls from one peer, default 1000, from 100 to 60,000. Each wait is up to a tenth shorter or longer, at
   * random.
   */
  readonly periodMs?: number
  /** Milliseconds after which a pull counts as failed, default 5000. */
  readonly timeoutMs?: number
  /**
   * Called for each pull that failed, with the peer that could not be read. The next pull (request to this peer) reads what the failed one
   * did not. Also called with the name of this region, if its own store did not answer, so that what its callers need could not be
   * computed.
   */
  readonly onError?: (peer: string, error: unknown) => void
  /** The time for pulls and waits; default the system's. */
  readonly clock?: Time
  /** Random numbers for the waits; default `Math.random`. */
  readonly random?: Random
}

/** The options that `replicate` passes on, with their defaults filled in. */
export interface CarryOptions {
  readonly transport: ReplicateOptions['transport'] | undefined
  readonly onError: ReplicateOptions['onError'] | undefined
  readonly periodMs: number
  readonly timeoutMs: number
  readonly clock: Time
  readonly random: Random
}

/** Sends units to other regions and reads what they sent, so that the regions' shares follow the demand. */
export interface Replicator {
  /**
   * Answers a request that a peer's `transport` brought. The caller must have made sure that the request comes from that region.
   * @throws LimiterError INVALID_OPTIONS for a request that no region sends, CLOSED after `close`; StoreFailure if the region's own store
   * is on a server and does not answer: the peer then tries again
   */
  answer(request: unknown): Promise<RegionPage>
  /**
   * What the replicator knows now, for an operator to look at. This call reads no store: for a store on a server, the result is as last
   * read.
   */
  status(): ReplicatorStatus
  /** Ends all pulls (requests to peers), and resolves when none is running. The store keeps the units that it holds. */
  close(): Promise<void>
}

/** What a replicator knows. */
export interface ReplicatorStatus {
  /** The name of this region. */
  readonly self: string
  /**
   * The phase of the store. `learning`: it holds nothing until all peers know it. `open` and `closed`: see `RegionalStore.phase`. With
   * `mode: 'counters'`, `open`: it grants whole token buckets; `learning`: it grants only its parts, because it has not read some peer for
   * `cutoffMs`.
   */
  readonly phase: Phase
  /** How many eras the store has begun: times in which the weights stay the same. 0 with `mode: 'counters'`, which has no eras. */
  readonly era: number
  /** Thousandths of every token bucket that each region holds at the start of this era. A region that was removed is absent. */
  readonly weights: Readonly<Record<string, number>>
  /** Thousandths of a limit that this region holds of a key for which no units were sent or received. */
  readonly units: number
  /**
   * Of how many keys units were sent or received in this era. With `mode: 'counters'`: of how many keys the region keeps the sum that was
   * spent, because some peer may not have read it yet.
   */
  readonly cells: number
  /**
   * What was sent and received since the store was started; if the store is on a server, by this process. All 0 with `mode: 'counters'`,
   * which sends no units.
   */
  readonly transfers: Readonly<Transfers>
  /** What is known of each peer, by its name. */
  readonly peers: Readonly<Record<string, PeerStatus>>
}

/** What a replicator knows of one peer. */
export interface PeerStatus {
  /**
   * The run of the peer's store that this region knows last: one life of the store, which ends if the store is lost. Undefined before any
   * is known.
   */
  readonly run: string | undefined
  /** Milliseconds since the start of the latest pull that read everything; undefined before the first such pull. */
  readonly lagMs: number | undefined
  /** Milliseconds since this peer last read from this region; undefined before its first read. */
  readonly readMs: number | undefined
  /** How many pulls have failed since the latest successful one. */
  readonly failures: number
  /** Why the latest pull failed; undefined if it did not. */
  readonly error: string | undefined
}
