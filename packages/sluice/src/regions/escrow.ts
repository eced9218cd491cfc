import type { AnyLimit } from '../algorithms/algorithm.ts'
import { type BucketState, tokenBucketKernel } from '../algorithms/token-bucket.ts'
import type { Call, Scope, StateId } from '../stores/store.ts'
import type { Micros } from '../time/micros.ts'
import { createChangeLog } from './change-log.ts'
import { currentCell, type Held, heldOf, isOf, type UnitsToGive, unitsToGive } from './cell.ts'
import { adopted } from './decide.ts'
import { meet, open, statusFor } from './era.ts'
import { bucketOf, converted, type Entry, isOther } from './escrow-entry.ts'
import { createLastLimits, type LastLimits, type OwnLimit, ownLimit } from './last-limits.ts'
import type { RegionalLimit } from './limit.ts'
import { newRun } from './recovery.ts'
import type { Region, Roster } from './roster.ts'
import type { RewritingStore } from './rewriting-store.ts'
import { createLimitShares, type LimitShares } from './limit-shares.ts'
import { type ScopeLimit, scopeLimit } from './scope-limit.ts'
import type { Cell, CellRow, RegionStore, Rows, Run, Status, Transfers } from './state.ts'
import { isNameable, PAGE_ROWS } from './messages.ts'
import { give, inDoubt, merge, rowTo, unitsReceived } from './transfer.ts'
import { keyed, limitOfKey } from './undivided.ts'

/** What a region reads of a peer at one instant. */
export interface Page {
  /** Those that changed since the cursor, the oldest changes first. */
  readonly rows: readonly CellRow[]
  /** Undefined while more rows are left: it counts only after all rows of its instant. */
  readonly status: Status | undefined
  /** The cursor for the next page. */
  readonly cursor: number
}

/** The escrow of one region whose store is in this process: the rights that the region holds, and the operations that change them. */
export interface Escrow {
  readonly region: RegionStore
  /** Keys that have rows. */
  readonly cells: number
  /** A key is about to have no state, and to be full by the limit of its last call. */
  reset(id: StateId): void
  /** The limit by which a key with rows is full if it has no state; undefined for keys without rows. */
  fullBy(id: StateId): RegionalLimit | undefined
  /** The limit by which a call of a token bucket is decided now. */
  limitOf(call: Pick<Call, 'id' | 'limit'>, limit: RegionalLimit): AnyLimit
  held(id: StateId, limit: RegionalLimit): Held
  /** By which limits keys were called. */
  readonly limits: LastLimits
  /** The limit by which a key was last called, as far as that is known, else the one that a peer names. Undefined if that has no shares. */
  limitIn(id: StateId, policy: string): ScopeLimit | undefined
  /** What was sent and received since the store was started. */
  readonly transfers: Transfers
  /** Sends units of a key to a peer. False if they may not be sent, or if the key has no rows yet and as many keys as allowed have some. */
  give(call: Pick<Call, 'id' | 'limit'>, limit: RegionalLimit, to: Region, units: UnitsToGive, most?: number): boolean
  /** As `give`, for a peer that says which limit it means. The limit of the key in this region may be another one. */
  lend(id: StateId, policy: string, to: Region, units: UnitsToGive): boolean
  /** What a peer that has read up to `cursor` may read now. */
  page(to: Region, cursor: number): Page
  /** Receives rows and a status. Returns false if there was no room for a row: it must be read again later. */
  receive(page: Page): boolean
  /** Changes what the store knows of the regions by a program, and begins the next era if all is ready for it. */
  update(program: (region: RegionStore, now: Micros) => RegionStore): void
  /** The cursor for a peer's pages. */
  cursorOf(peer: RegionStore): number
  setCursor(peer: RegionStore, cursor: number): void
}

/**
 * @param run names this life of the store
 * @param maxCells the most keys with rows
 */
export function createEscrow(store: RewritingStore, self: Region, roster: Roster, run: Run, maxCells: number): Escrow {
  let region = newRun(self, run, roster, store.now())
  const statuses = new Map<Region, Status>()
  const cursors = new Map<Region, { readonly run: Run; readonly era: number; readonly at: number }>()
  const cells = new Map<string, Map<string, Entry>>()
  const limits = createLastLimits()
  const transfers: Transfers = { sent: 0, received: 0, unitsSent: 0, unitsReceived: 0 }
  const shares = new WeakMap<AnyLimit, LimitShares>()
  const log = createChangeLog<Entry>()
  // A busy limit, and a busy key with rows, are looked up once: maps cost a tenth of a decision in memory.
  let lastScope: Scope | undefined
  let last: LimitShares | undefined
  let lastKey: string | undefined
  let lastEntry: Entry | undefined

  const find = ({ scope, key }: StateId): Entry | undefined => cells.get(scope.text)?.get(key)
  const entries = function* (): Generator<Entry> {
    for (const keys of cells.values()) yield* keys.values()
  }
  const drop = (entry: Entry): void => {
    cells.get(entry.id.scope.text)?.delete(entry.id.key)
    lastKey = undefined
    log.remove(entry)
  }
  const calledBy = (id: StateId): ScopeLimit | undefined => {
    const entry = find(id)
    const known = entry === undefined || entry.doubtful ? limits.of(id) : { scope: entry.id.scope, whole: entry.whole, limit: entry.limit }
    return keyed(known, id)
  }
  /**
   * Notes by which limit a key with rows is called. A state that is absent was full by the limit of the last use, so it is written before a
   * call by another one. A state that is there says by its plan which limit was used last: a peek leaves it. False if that is not known yet.
   */
  const noteUse = (entry: Entry, whole: AnyLimit, limit: RegionalLimit): boolean => {
    let noted = !isOther(region, entry, limit)
    const kept =
      noted ||
      store.rewrite(entry.id, tokenBucketKernel, (state, now) => {
        noted = state === undefined || isOf(region, { bucket: state as BucketState, rows: entry.rows }, limit)
        const next = state === undefined ? converted(region, entry, limit, now) : undefined
        return next && { limit: { ...whole, algorithm: tokenBucketKernel, plan: next.plan }, state: next }
      })
    if (kept && noted) entry.fullBy = limit
    Object.assign(entry, { whole, limit, doubtful: false })
    return kept && noted
  }
  /**
   * Runs a program on a cell, and keeps what it made of state and rows. Undefined if it made nothing, or there is no room.
   * @param by the limit that the caller names, or chooses by the cell
   */
  const rewrite = (
    id: StateId,
    by: OwnLimit | ((cell: Cell) => OwnLimit),
    program: (cell: Cell, own: OwnLimit, now: Micros) => Cell | undefined,
  ): Rows | undefined => {
    const entry = find(id)
    if (entry === undefined && log.size >= maxCells) return undefined
    let made: Cell | undefined
    let own: OwnLimit | undefined
    const kept = store.rewrite(id, tokenBucketKernel, (state, now) => {
      const found = { bucket: state as BucketState | undefined, rows: entry?.rows }
      own = keyed(typeof by === 'function' ? by(found) : by, id)
      const cell =
        entry === undefined || !isOther(region, entry, own.limit) ? found : { ...found, bucket: bucketOf(region, entry, found.bucket, now) }
      made = program(cell, own, now)
      const bucket = made?.bucket
      return bucket === undefined ? undefined : { limit: { ...own.whole, algorithm: tokenBucketKernel, plan: bucket.plan }, state: bucket }
    })
    const rows = made?.rows
    if (!kept || rows === undefined || own === undefined) return undefined
    const { whole, limit, scope, doubt } = own
    const changed = { whole, limit, fullBy: limit, rows, doubtful: doubt !== undefined, of: undefined }
    if (entry !== undefined) {
      log.change(Object.assign(entry, changed), false)
      return rows
    }
    lastKey = undefined
    const keys = cells.get(id.scope.text) ?? new Map<string, Entry>()
    const fresh = { id: { scope, key: id.key }, changed: 0, share: undefined, ...changed }
    cells.set(id.scope.text, keys.set(id.key, fresh))
    log.change(fresh, true)
    return rows
  }
  /** Chooses the limit of a cell of which a peer names one. */
  const ownOf =
    (id: StateId, named: ScopeLimit): ((cell: Cell) => OwnLimit) =>
    (cell) =>
      ownLimit(region, cell, keyed(named, id), calledBy(id), !limits.has(id.scope.text), limits.fillOf(id.scope.text))
  /**
   * Rows of an era that is over are void. Their keys are settled before they are dropped, because only rows know the share that they had.
   */
  const settleAll = (before: RegionStore): void => {
    for (const entry of entries()) {
      const { id, whole, limit, rows, doubtful } = entry
      if (rows.era === region.era) continue
      const settled = store.rewrite(id, tokenBucketKernel, (state, now) => {
        const cell = { bucket: bucketOf(before, entry, state, now), rows }
        const current = currentCell(region, cell, limit, now)
        const bucket =
          doubtful && !isOf(region, cell, limit) ? inDoubt(current, limit, limits.fillOf(id.scope.text)) : adopted(region, current, limit)
        return { limit: { ...whole, algorithm: tokenBucketKernel, plan: bucket?.plan ?? limit.whole }, state: bucket }
      })
      if (settled) drop(entry)
    }
  }
  const become = (next: RegionStore): void => {
    const before = region
    region = next
    if (next.era !== before.era) settleAll(before)
  }
  const update: Escrow['update'] = (program) => {
    become(program(region, store.now()))
    become(open(region, statuses, store.now()))
  }
  const remember = (scope: Scope, whole: AnyLimit, limit: RegionalLimit): LimitShares => {
    limits.called(scope, whole, limit)
    let known = shares.get(whole)
    if (known?.region !== region) {
      known = createLimitShares(region, whole, limit)
      shares.set(whole, known)
    }
    lastScope = scope
    last = known
    lastKey = undefined
    return known
  }
  const send = (id: StateId, by: Parameters<typeof rewrite>[1], to: Region, wanted: UnitsToGive, most?: number): boolean => {
    if (!isNameable(id)) return false
    let units = 0
    const made = rewrite(id, by, (cell, { limit, doubt }, now) => {
      units = unitsToGive(wanted, () => heldOf(region, limit, cell.rows, 0))
      return give(region, cell, limit, to, units, now, most, doubt)
    })
    const sent = made !== undefined
    if (sent) transfers.sent += 1
    if (sent) transfers.unitsSent += units
    return sent
  }
  update((fresh) => fresh)
  return {
    get region() {
      return region
    },
    get cells() {
      return log.size
    },
    limitOf({ id, limit: whole }, limit) {
      const known = last?.whole === whole && last.region === region && lastScope === id.scope ? last : remember(id.scope, whole, limit)
      if (log.size === 0) return known.shareOf(id, undefined).limit
      if (id.key !== lastKey) {
        lastEntry = find(id)
        lastKey = id.key
      }
      const entry = lastEntry
      if (entry === undefined) return known.shareOf(id, undefined).limit
      if (entry.of !== known || entry.share === undefined) {
        const noted = noteUse(entry, whole, limitOfKey(limit, id))
        entry.share = known.shareOf(entry.id, entry.rows)
        entry.of = noted ? known : undefined
      }
      return entry.share.limit
    },
    reset(id) {
      const entry = find(id)
      if (entry !== undefined) entry.fullBy = entry.limit
    },
    fullBy: (id) => find(id)?.fullBy,
    held(id, limit) {
      const entry = find(id)
      return heldOf(region, limitOfKey(limit, id), entry?.rows, entry?.changed ?? 0)
    },
    limits,
    limitIn: (id, policy) => calledBy(id) ?? scopeLimit(id.scope.text, policy),
    transfers,
    give: ({ id, limit: whole }, limit, to, wanted, most) =>
      send(id, { scope: id.scope, whole, limit, doubt: undefined }, to, wanted, most),
    lend(id, policy, to, wanted) {
      const named = scopeLimit(id.scope.text, policy)
      return named !== undefined && send(id, ownOf(id, named), to, wanted)
    },
    page(to, cursor) {
      const found = log.after(cursor, PAGE_ROWS + 1)
      const some = found.slice(0, PAGE_ROWS)
      const rows = some.flatMap(({ id, rows: known }) => {
        const row = rowTo(region, { bucket: undefined, rows: known }, to)
        return row === undefined ? [] : [{ scope: id.scope.text, key: id.key, row }]
      })
      const all = some.length === found.length
      return { rows, status: all ? statusFor(region, to) : undefined, cursor: all ? log.last : (some.at(-1) as Entry).changed }
    },
    receive({ rows, status }) {
      let fits = true
      for (const found of rows) {
        const named = scopeLimit(found.scope, found.row.policy)
        if (named === undefined) continue
        const id = { scope: named.scope, key: found.key }
        let units = 0
        // Refused until the program has run: there may be no room for another key.
        let refused = true
        const merged = rewrite(id, ownOf(id, named), (cell, { limit, doubt }, now) => {
          const next = merge(region, cell, limit, found.row, now, doubt)
          refused = next !== undefined
          units = unitsReceived(region, cell, next)
          return next
        })
        if (merged === undefined && refused) fits = false
        if (merged !== undefined) transfers.received += 1
        if (merged !== undefined) transfers.unitsReceived += units
      }
      if (status !== undefined) {
        statuses.set(status.from, status)
        update((current, now) => meet(current, status, now))
      }
      return fits
    },
    update,
    cursorOf(peer) {
      const known = cursors.get(peer.region)
      return known?.run === peer.run && known.era === region.era ? known.at : 0
    },
    setCursor: (peer, at) => void cursors.set(peer.region, { run: peer.run, era: region.era, at }),
  }
}
