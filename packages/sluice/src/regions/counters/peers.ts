import type { BucketPlan } from '../../algorithms/bucket-plan.ts'
import { MICROS_PER_MS, type Micros } from '../../time/micros.ts'
import type { MonotonicInstant } from '../../time/time.ts'
import { createKnown, type Known } from './known.ts'
import type { SpendRow } from './spend.ts'
import type { Region } from '../rights/roster.ts'
import type { Run } from '../rights/state.ts'

/** What this region has read of each peer, and how far each peer has read this region. */
export interface CounterPeers {
  /** As `owed` of `Known`. */
  owed(from: Region, run: Run, row: SpendRow, plan: BucketPlan): number
  charged(from: Region, row: SpendRow, plan: BucketPlan, now: Micros): void
  /**
   * Notes a complete read of a peer. Returns up to which instant the spending of all peers is charged; -Infinity if one was never read
   * completely.
   */
  complete(from: Region, run: Run, births: number, requestedAt: MonotonicInstant): MonotonicInstant
  /** @param readUpTo the number of the last change that the peer has read */
  noteRead(peer: Region, readUpTo: number): void
  /** The number of the last change that all peers have read; 0 at first. Peers that have not read for `keptMs` are ignored. */
  readByAll(): number
  sweep(now: Micros): void
  /** The monotonic clock was replaced by one that is this many milliseconds ahead. */
  shift(ahead: number): void
}

interface Peer {
  readonly known: Known
  /** The instant up to which all that the peer spent is charged; undefined before the first complete read. */
  completeAt: MonotonicInstant | undefined
  /** The last change that the peer has read, and when it last read (at first, when this region started). */
  readUpTo: number
  readAt: MonotonicInstant
}

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
      // A row's age counts up to the latest complete read, because the peer may have added to the row since.
      for (const { known, completeAt } of peers.values())
        if (completeAt !== undefined) known.sweep(now - (monotonic() - completeAt) * MICROS_PER_MS)
    },
    shift(ahead) {
      born += ahead
      for (const peer of peers.values()) {
        peer.readAt += ahead
        if (peer.completeAt !== undefined) peer.completeAt += ahead
      }
    },
  }
}
