import type { BucketPlan } from '../../algorithms/bucket-plan.ts'
import { MICROS_PER_MS, type Micros } from '../../time/micros.ts'
import type { MonotonicInstant } from '../../time/time.ts'
import { createKnown, type Known } from './known.ts'
import type { SpendRow } from './spend.ts'
import type { Region } from '../rights/roster.ts'
import type { Run } from '../rights/state.ts'

/** What this region has read of each peer, and how far each peer has read this region. */
export interface CounterPeers {
  /** How many micro-tokens of a peer's row are not charged yet. */
  owed(from: Region, run: Run, row: SpendRow, plan: BucketPlan): number
  /** Notes that a peer's row is charged. */
  charged(from: Region, row: SpendRow, plan: BucketPlan, now: Micros): void
  /**
   * Notes that this region has charged all that a peer had spent at `requestedAt`. Such an instant is known for each peer: returns the
   * earliest of them; -Infinity if some peer has never been read completely.
   */
  complete(from: Region, run: Run, births: number, requestedAt: MonotonicInstant): MonotonicInstant
  /** Notes that a peer reads now, and has read the changes up to the one with this number. */
  noteRead(peer: Region, readUpTo: number): void
  /**
   * The number of the last change of this region's rows that all peers have read. Peers that have not read for `keptMs` are left out. 0 at
   * first.
   */
  readByAll(): number
  /** Forgets rows of peers whose tokens were refilled long ago. */
  sweep(now: Micros): void
  /** Called when the monotonic clock is replaced by one that is this many milliseconds ahead of it. */
  shift(ahead: number): void
}

interface Peer {
  readonly known: Known
  /** This region has charged all that the peer had spent at this instant; undefined before the peer was first read completely. */
  completeAt: MonotonicInstant | undefined
  /**
   * The number of the last change of this region's rows that the peer has read, and when the peer last read. At first `readAt` is when this
   * region started.
   */
  readUpTo: number
  readAt: MonotonicInstant
}

/** @param keptMs milliseconds for which rows are kept for a peer that does not read them */
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
      // Whether a row is old is judged at the time of the peer's latest read. After that, while the link is cut, the peer may go on with
      // the row.
      for (const { known, completeAt } of peers.values())
        if (completeAt !== undefined) known.sweep(now - (monotonic() - completeAt) * MICROS_PER_MS)
    },
    shift(ahead) {
      born += ahead
      for (const peer of peers.values()) peer.readAt += ahead
    },
  }
}
