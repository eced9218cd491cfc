import type { BucketPlan } from '../../algorithms/bucket-plan.ts'
import { MICROS_PER_MS, type Micros } from '../../time/micros.ts'
import type { MonotonicInstant } from '../../time/time.ts'
import { createKnown, type Known } from './known.ts'
import type { SpendRow } from './spend.ts'
import type { Region } from '../rights/roster.ts'
import type { Run } from '../rights/state.ts'

/** What a region has read of its peers, and they of it. */
export interface CounterPeers {
  /** How much of a peer's row is not charged yet, in micro-tokens. */
  owed(from: Region, run: Run, row: SpendRow, plan: BucketPlan): number
  /** A peer's row is charged. */
  charged(from: Region, row: SpendRow, plan: BucketPlan, now: Micros): void
  /**
   * All that a peer had spent at `requestedAt` is charged. Returns the earliest of these instants over all peers; -Infinity if a peer has
   * none.
   */
  complete(from: Region, run: Run, births: number, requestedAt: MonotonicInstant): MonotonicInstant
  /** A peer reads, and has read the changes up to this one. */
  noteRead(peer: Region, readUpTo: number): void
  /** The last change that all peers have read, except those that have not read for very long; 0 until one was counted. */
  readByAll(): number
  /** Forgets what has expired. */
  sweep(now: Micros): void
  /** The clock is another one, ahead of the earlier one by so much. */
  shift(ahead: number): void
}

interface Peer {
  readonly known: Known
  /** All that it had spent then is charged; undefined before its first page. */
  completeAt: MonotonicInstant | undefined
  /** How far it has read, and when it last did; at first, when this region began. */
  readUpTo: number
  readAt: MonotonicInstant
}

/** @param keptMs how long rows are kept for a peer that does not read them */
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
      for (const { known } of peers.values()) known.sweep(now)
    },
    shift(ahead) {
      born += ahead
      for (const peer of peers.values()) peer.readAt += ahead
    },
  }
}
