import type { AnyLimit } from '../algorithms/algorithm.ts'
import type { BucketPlan } from '../algorithms/bucket-plan.ts'
import { type BucketState, tokenBucketKernel } from '../algorithms/token-bucket.ts'
import type { Call, StateId } from '../stores/store.ts'
import { MICROS_PER_MS, type Micros } from '../time/micros.ts'
import type { MonotonicInstant } from '../time/time.ts'
import { indebted } from './counters-debt.ts'
import { createKnown, type Known, planNamed } from './counters-known.ts'
import { createSpend, type Spend, type SpendPage, type SpendRow } from './counters-spend.ts'
import type { RewritingStore } from './rewriting-store.ts'
import type { Region } from './roster.ts'
import type { Run } from './state.ts'

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
  /** All that a peer had spent at `asked` is charged. */
  complete(from: Region, run: Run, births: number, asked: MonotonicInstant): void
  /** Drops what has expired. */
  sweep(): void
}

interface Peer {
  readonly known: Known
  /** All that it had spent then is charged; undefined before its first page. */
  completeAt: MonotonicInstant | undefined
  /** How far it has read, and when it last did; at first, when this region began. */
  readUpTo: number
  readAt: MonotonicInstant
}

/** A charge for which the store had no room yet. */
type Debt = Pick<Call, 'id' | 'limit' | 'cost'>

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
  const peers = new Map(
    names.map((name): [Region, Peer] => [name, { known: createKnown(), completeAt: undefined, readUpTo: 0, readAt: own() }]),
  )
  let monotonic = own
  let born = own()
  let attached = false
  let freshUntil = cutoffMs === undefined ? Infinity : -Infinity
  let cut: Micros | undefined
  let lastCutAt = 0
  /** The last change that all peers have read; 0 until one was counted. */
  let read = 0
  let debts: Debt[] = []
  const spend = createSpend(maxCells, () => read)
  const peerOf = (name: Region): Peer => peers.get(name) as Peer
  const recount = (): void => {
    const now = monotonic()
    read = Math.min(...[...peers.values()].map(({ readAt, readUpTo }) => (now - readAt <= keptMs ? readUpTo : Infinity)))
  }
  const charge = (id: StateId, plan: BucketPlan, amount: number): boolean =>
    store.rewrite(id, tokenBucketKernel, (state, now) => {
      const bucket = indebted(plan, state as BucketState | undefined, now, amount)
      return { limit: { algorithm: tokenBucketKernel, plan: bucket.plan } as unknown as AnyLimit, state: bucket }
    })
  const payDebts = (): void => {
    debts = debts.filter(({ id, limit, cost }) => !charge(id, limit.plan as BucketPlan, cost))
  }
  const receiveRow = ({ known, completeAt }: Peer, from: Run, row: SpendRow): boolean => {
    const plan = planNamed(row.policy)
    const elapsed = (monotonic() - (completeAt ?? born)) * MICROS_PER_MS
    const amount = known.owed(from, row, plan, elapsed)
    if (amount > 0 && !charge({ scope: { text: row.scope }, key: row.key }, plan, amount)) return false
    known.charged(row, plan, store.now())
    return true
  }
  const cutSince = (): Micros | undefined => {
    if (debts.length > 0) payDebts()
    if (cutoffMs === undefined || (attached && monotonic() <= freshUntil)) cut = undefined
    // The clock of the store may have stepped back: what an earlier cut wrote was before this one.
    else cut ??= Math.max(store.now(), lastCutAt + 1)
    return cut
  }
  return {
    run,
    spend,
    cutSince,
    spent(call, at) {
      const { id, limit, cost } = call
      spend.add(call, at)
      if (cut === undefined) return
      lastCutAt = Math.max(lastCutAt, at)
      if (!charge(id, limit.plan as BucketPlan, cost)) debts.push({ id: { scope: id.scope, key: id.key }, limit, cost })
    },
    attach(clock) {
      const ahead = clock() - own()
      born += ahead
      for (const peer of peers.values()) peer.readAt += ahead
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
      const peer = peerOf(to)
      const after = position?.run === run ? position.at : 0
      peer.readUpTo = Math.max(peer.readUpTo, after)
      peer.readAt = monotonic()
      recount()
      return spend.page(after)
    },
    receive(from, of, { rows }) {
      let fits = true
      for (const row of rows) fits = receiveRow(peerOf(from), of, row) && fits
      return fits
    },
    complete(from, of, births, asked) {
      const peer = peerOf(from)
      peer.known.complete(of, births)
      peer.completeAt = asked
      const oldest = Math.min(...[...peers.values()].map(({ completeAt = -Infinity }) => completeAt))
      if (cutoffMs !== undefined) freshUntil = oldest + cutoffMs
    },
    sweep() {
      const now = store.now()
      recount()
      spend.sweep(now)
      for (const { known } of peers.values()) known.sweep(now)
      // Also without calls: parts fill from the instant at which a cut is noticed.
      cutSince()
    },
  }
}
