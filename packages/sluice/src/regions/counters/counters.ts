import type { Call } from '../../stores/store.ts'
import type { Micros } from '../../time/micros.ts'
import type { MonotonicInstant } from '../../time/time.ts'
import { type Charges, createCharges } from './charges.ts'
import { createCutoff } from './cutoff.ts'
import { planNamed } from './known.ts'
import { type CounterPeers, createCounterPeers } from './peers.ts'
import { createSpend, type Spend, type SpendPage, type SpendRow } from './spend.ts'
import type { RewritingStore } from '../rewriting-store.ts'
import type { Region } from '../rights/roster.ts'
import type { Run } from '../rights/state.ts'

/**
 * For one region whose store is in this process: how many tokens the region spent of each key, and how many its peers spent, as far as it
 * has read.
 */
export interface Counters {
  readonly run: Run
  /** The keys of which this region has spent tokens. */
  readonly spend: Pick<Spend, 'size' | 'hasRoom'>
  /**
   * The store time since which the region has been cut off, in microseconds; undefined if it is not cut off. It is cut off if it has not
   * read some peer for `cutoffMs`. It then grants only its fixed part of each limit. Called before each decision.
   */
  cutSince(): Micros | undefined
  /**
   * Counts a call that passed. While the region is cut off, another state than the key's decides the call. Then this method also charges
   * the key's own state.
   */
  spent(call: Call, at: Micros): void
  /**
   * Sets the clock by which the region measures how long it has not read its peers. Before this call, a region with `cutoffMs` is cut off.
   */
  attach(monotonic: () => MonotonicInstant): void
  /** Called when the replicator was closed, so that no peer is read any more. */
  detach(): void
  readonly attached: boolean
  /**
   * A page of the rows (the sums that this region spent of keys) that changed after a position, for a peer that reads them. Also notes that
   * the peer has read and charged the changes up to the position. Without a position, or with one of another run of this store, the page
   * begins at the first change.
   */
  page(to: Region, position: { readonly run: Run; readonly at: number } | undefined): SpendPage
  /**
   * Charges the states of this region for what a peer spent. Returns false if the store had no room for a state: then the peer's page must
   * be read again.
   */
  receive(from: Region, run: Run, page: Pick<SpendPage, 'rows'>): boolean
  /**
   * Notes that this region has charged everything that the peer had spent up to `requestedAt`.
   * @param births how many rows (sums of one key) the peer had begun since its store started
   */
  complete(from: Region, run: Run, births: number, requestedAt: MonotonicInstant): void
  /** Drops rows that nobody needs any more. */
  sweep(): void
}

/**
 * How many milliseconds rows (the sums that were spent of keys) are kept for a peer that does not read them. A peer that reads again later
 * is treated as if it had lost its store.
 */
export const KEPT_MS = 600_000

export interface CountersOptions {
  readonly maxCells: number
  /** Undefined: the region is never cut off, however long peers are not read. */
  readonly cutoffMs: number | undefined
  readonly monotonic: () => MonotonicInstant
  readonly keptMs: number
}

/** @param run identifies this life of the store */
export function createCounters(
  store: RewritingStore,
  names: readonly Region[],
  run: Run,
  { maxCells, cutoffMs, monotonic: own, keptMs }: CountersOptions,
): Counters {
  let monotonic = own
  let attached = false
  const peers = createCounterPeers(names, () => monotonic(), keptMs)
  const spend = createSpend(maxCells, peers.readByAll)
  const charges = createCharges(store)
  const cutoff = createCutoff(
    cutoffMs,
    () => store.now(),
    () => (attached ? monotonic() : undefined),
  )
  const cutSince = (): Micros | undefined => {
    charges.retry()
    return cutoff.since()
  }
  return {
    run,
    spend,
    cutSince,
    spent(call, at) {
      spend.add(call, at)
      if (cutoff.latest === undefined) return
      cutoff.written(at)
      charges.mustCharge(call)
    },
    attach(clock) {
      peers.shift(clock() - own())
      monotonic = clock
      attached = true
    },
    detach() {
      attached = false
    },
    get attached() {
      return attached
    },
    page(to, position) {
      const after = position?.run === run ? position.at : 0
      peers.noteRead(to, after)
      return spend.page(after)
    },
    receive: (from, of, { rows }) => chargeRows(store, charges, peers, from, of, rows),
    complete(from, of, births, requestedAt) {
      cutoff.fresh(peers.complete(from, of, births, requestedAt))
    },
    sweep() {
      const now = store.now()
      peers.sweep(now)
      spend.sweep(now)
      // Called without a call, too: the region must notice soon that it is cut off, because its parts of limits fill from that instant.
      cutSince()
    },
  }
}

/**
 * Charges what is new in a peer's rows, which are the sums that it spent of keys. Returns false if the store had no room for one of the
 * states.
 */
function chargeRows(
  store: RewritingStore,
  charges: Charges,
  peers: CounterPeers,
  from: Region,
  run: Run,
  rows: readonly SpendRow[],
): boolean {
  let fits = true
  for (const row of rows) {
    const plan = planNamed(row.policy)
    const amount = peers.owed(from, run, row, plan)
    if (amount > 0 && !charges.charge({ scope: { text: row.scope }, key: row.key }, plan, amount)) fits = false
    else peers.charged(from, row, plan, store.now())
  }
  return fits
}
