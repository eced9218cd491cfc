import type { BucketPlan } from '../../algorithms/bucket-plan.ts'
import { MICROS_PER_MS, type Micros } from '../../time/micros.ts'
import type { MonotonicInstant } from '../../time/time.ts'
import { createKnown, type Known } from './known.ts'
import type { SpendRow } from './spend.ts'
import type { Region } from '../rights/roster.ts'
import type { Run } from '../rights/state.ts'

/** What this region has read of each peer, and how far each peer has read this region. */
export interface CounterPeers {
  /** How many micro-tokens of a peer's row (the sum that it spent of a key) are not charged yet. */
  owed(from: Region, run: Run, row: SpendRow, plan: BucketPlan): number
  /** Notes that a peer's row is charged. */
  charged(from: Region, row: SpendRow, plan: BucketPlan, now: Micros): void
  /**
   * Notes that this region has charged all that a peer had spent up to `requestedAt`. Such an instant is known for each peer: returns the
   * earliest of them; -Infinity if some peer has never been read completely.
   */
  complete(from: Region, run: Run, births: number, requestedAt: MonotonicInstant): MonotonicInstant
  /** Notes that a peer reads now, and has read the changes up to the one with this number. */
  noteRead(peer: Region, readUpTo: number): void
  /**
   * This region numbers the changes of its rows (the sums that it spent of keys). Returns the number of the last change that all peers have
   * read. Peers that have not read for `keptMs` are left out. 0 at first.
   */
  readByAll(): number
  /** Forgets how much of peers' rows (the sums that they spent of keys) was charged, if these tokens were refilled long ago. */
  sweep(now: Micros): void
  /** Called when the monotonic clock is replaced by one that is this many milliseconds ahead of it. */
  shift(ahead: number): void
}

interface Peer {
  readonly known: Known
  /** This region has charged all that the peer had spent up to this instant; undefined before the peer was first read completely. */
  completeAt: MonotonicInstant | undefined
  /**
   * Up to which number of a change the peer has read what this region spent, and when the peer last read. At first `readAt` is when this
   * region started.
   */
  readUpTo: number
  readAt: MonotonicInstant
}

/** @param keptMs milliseconds for which this region keeps what it spent for a peer that does not read it */
export function createCounterPeers(names: readonly Region[], monotonic: () => MonotonicInstant, keptMs: number): CounterPeers {
  let born = monotonic()
  const peers = new Map(
    names.map((name): [Region, Peer] => [name, { known: createKnown(), completeAt: undefined, readUpTo: 0, readAt: born }]),
  )
  let readByAll = 0
  const peerOf = (name: Region): Peer => peers.get(name) as Peer
  const recount = (): void => {
    const now = monotonic()
    readByAll = Math.min(...[...peers.values()].map(({ readAt, readUpTo }) => (now - readAt <= keptMs ? readUpTo : Infinity)))
  }
  return {
    owed(from, run, row, plan) {
      const { known, completeAt } = peerOf(from)
      return known.owed(run, row, plan, (monotonic() - (completeAt ?? born)) * MICROS_PER_MS)
    },
    charged: (from, row, plan, now) => peerOf(from).known.charged(row, plan, now),
    complete(from, run, births, requestedAt) {
      const peer = peerOf(from)
      peer.known.complete(run, births)
      peer.completeAt = requestedAt
      return Math.min(...[...peers.values()].map(({ completeAt = -Infinity }) => completeAt))
    },
    noteRead(name, readUpTo) {
      const peer = peerOf(name)
      peer.readUpTo = Math.max(peer.readUpTo, readUpTo)
      peer.readAt = monotonic()
      recount()
    },
    readByAll: () => readByAll,
    sweep(now) {
      recount()
      // A row (the sum that the peer spent of a key) is forgotten only if it was old at the latest read of the peer. After that read, while
      // the link is cut, the peer may have added to it.
      for (const { known, completeAt } of peers.values())
        if (completeAt !== undefined) known.sweep(now - (monotonic() - completeAt) * MICROS_PER_MS)
    },
    shift(ahead) {
      born += ahead
      for (const peer of peers.values()) peer.readAt += ahead
    },
  }
}
