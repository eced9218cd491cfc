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

/** How many tokens a region spent of each key, and how many its peers did, as far as it has read. */
export interface Counters {
  readonly run: Run
  /** Milliseconds without a read of some peer, after which the region is cut off; undefined: never. */
  readonly cutoffMs: number | undefined
  readonly spend: Pick<Spend, 'size' | 'hasRoom'>
  /**
   * The store time at which the region was cut off; undefined if it is not. While cut off (some peer not read for `cutoffMs`), it grants
   * only its fixed part of limits. Called before each decision.
   */
  cutSince(): Micros | undefined
  /** Counts a call that passed. While the region is cut off, a separate state decides calls, so this also charges the key's own state. */
  spent(call: Call, at: Micros): void
  /** Sets the clock that measures how long peers were not read. Before this, a region with `cutoffMs` is cut off. */
  attach(monotonic: () => MonotonicInstant): void
  /** Called when the replicator is closed and reads no more peers. */
  detach(): void
  readonly attached: boolean
  /**
   * Notes that the peer has charged everything up to a position, and returns the sums spent that changed after it. Returns all sums if the
   * position is missing, or of another run (store lifetime).
   */
  page(to: Region, position: { readonly run: Run; readonly at: number } | undefined): SpendPage
  /** Charges what a peer spent. Returns false if a state had no room: the page must be read again. */
  receive(from: Region, run: Run, page: Pick<SpendPage, 'rows'>): boolean
  /**
   * Notes that all that the peer had spent by `requestedAt` is charged.
   * @param births how many sums the peer's store had begun since it started
   */
  complete(from: Region, run: Run, births: number, requestedAt: MonotonicInstant): void
  sweep(): void
}

/** Milliseconds for which sums are kept for a peer that does not read. */
export const KEPT_MS = 600_000

export interface CountersOptions {
  readonly maxCells: number
  /** Undefined: the region is never cut off. */
  readonly cutoffMs: number | undefined
  readonly monotonic: () => MonotonicInstant
  readonly keptMs: number
}

export function createCounters(store: RewritingStore, names: readonly Region[], run: Run, options: CountersOptions): Counters {
  const { maxCells, cutoffMs, keptMs } = options
  let { monotonic } = options
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
    cutoffMs,
    spend,
    cutSince,
    spent(call, at) {
      spend.add(call, at)
      if (cutoff.latest === undefined) return
      cutoff.written(at)
      charges.mustCharge(call)
    },
    attach(clock) {
      const ahead = clock() - monotonic()
      peers.shift(ahead)
      cutoff.shift(ahead)
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
      // Even without calls the region must notice soon that it is cut off. It then grants only its parts of the limits, whose buckets begin
      // empty at the instant when it notices.
      cutSince()
    },
  }
}

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
