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

/** One region's part of counters, over a store in this process. */
export interface Counters {
  readonly run: Run
  /** Keys of which something was spent. */
  readonly spend: Pick<Spend, 'size' | 'hasRoom'>
  /**
   * Since when the region has been cut off, by its store's clock: some peer was not read for the cutoff, and the region keeps to its fixed
   * part. Undefined: it is not. Called before each decision.
   */
  cutSince(): Micros | undefined
  /** Counts a call that passed. While the region is cut off, its own state is charged by it, too. */
  spent(call: Call, at: Micros): void
  /** The clock by which silence of peers is measured. Until it is known, a region with a cutoff is cut off. */
  attach(monotonic: () => MonotonicInstant): void
  /** Nobody reads the peers any more. */
  detach(): void
  readonly attached: boolean
  /** What a peer may read after a position. The position says what it has read already. */
  page(to: Region, position: { readonly run: Run; readonly at: number } | undefined): SpendPage
  /** Charges what a peer spent to the states of this region. Returns false if there was no room: it must be read again. */
  receive(from: Region, run: Run, page: Pick<SpendPage, 'rows'>): boolean
  /** All that a peer had spent at `requestedAt` is charged. */
  complete(from: Region, run: Run, births: number, requestedAt: MonotonicInstant): void
  /** Drops what has expired. */
  sweep(): void
}

/** How long rows are kept for a peer that does not read them, in milliseconds. A peer that returns later is treated as if it had lost its store. */
export const KEPT_MS = 600_000

export interface CountersOptions {
  readonly maxCells: number
  /** Undefined: silent peers change nothing. */
  readonly cutoffMs: number | undefined
  readonly monotonic: () => MonotonicInstant
  readonly keptMs: number
}

/** @param run names this life of the store */
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
      // Also without calls: parts fill from the instant at which a cut is noticed.
      cutSince()
    },
  }
}

/** Charges what rows of a peer say that is new. Returns false if there was no room for one of them. */
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
