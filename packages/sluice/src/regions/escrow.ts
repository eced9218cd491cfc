import type { AnyLimit } from '../algorithms/algorithm.ts'
import { type BucketState, tokenBucketKernel } from '../algorithms/token-bucket.ts'
import type { Call, Scope, StateId, StateProgram, Store } from '../stores/store.ts'
import type { Micros } from '../time/micros.ts'
import { currentCell, type Held, heldOf, unitsIn, type UnitsToGive, unitsToGive } from './cell.ts'
import { adopted } from './decide.ts'
import { meet, open, statusFor } from './era.ts'
import type { RegionalLimit } from './limit.ts'
import { newRun } from './recovery.ts'
import type { Region, Roster } from './roster.ts'
import { type ScopeLimit, scopeLimit } from './scope-limit.ts'
import { type Share, shareOf } from './share.ts'
import type { Cell, CellRow, RegionStore, Rows, Run, Status } from './state.ts'
import { MAX_KEY_LENGTH, PAGE_ROWS } from './messages.ts'
import { give, merge, newRows, rowTo, unitsReceived } from './transfer.ts'

/** A store in this process that rewrites single states at once, such as `memoryStore()`. */
export interface RewritingStore extends Store {
  now(): Micros
  rewrite(id: StateId, algorithm: AnyLimit['algorithm'], program: StateProgram): boolean
}

/** What a region reads of a peer at one instant. */
export interface Page {
  /** Those that changed since the cursor, the oldest changes first. */
  readonly rows: readonly CellRow[]
  /** Undefined while more rows are left: it counts only after all rows of its instant. */
  readonly status: Status | undefined
  /** The cursor for the next page. */
  readonly cursor: number
}

/** Counts since a store was started. */
export interface Transfers {
  /** How often this region sent units. */
  sent: number
  /** How often it received units. */
  received: number
  /** Units sent in all, in thousandths of the limits of their keys. */
  unitsSent: number
  /** Units received in all. */
  unitsReceived: number
}

/** One region's part of escrow, over a store in this process: the rights that it holds, and the programs that change them. */
export interface Escrow {
  readonly region: RegionStore
  /** Keys that have rows. */
  readonly cells: number
  /** The limit by which a call of a token bucket is decided now. */
  limitOf(call: Pick<Call, 'id' | 'limit'>, limit: RegionalLimit): AnyLimit
  held(id: StateId, limit: RegionalLimit): Held
  /** The limit of the keys in a scope: the one by which it was last called, else the one that a peer names. Undefined if that has no shares. */
  limitIn(scope: string, policy: string): ScopeLimit | undefined
  /** What was sent and received since the store was started. */
  readonly transfers: Transfers
  /** Sends units of a key to a peer; false if they may not be sent, or there is no room for another key with rows. */
  give(call: Pick<Call, 'id' | 'limit'>, limit: RegionalLimit, to: Region, units: UnitsToGive, most?: number): boolean
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

interface Entry {
  readonly id: StateId
  /** The limit by which the key was last decided, or sent. */
  whole: AnyLimit
  limit: RegionalLimit
  rows: Rows
  /** The number of the last change of the rows. */
  changed: number
  /** The share, and those among which it was found. */
  share: Share | undefined
  of: LimitShares | undefined
}

/** The shares of a limit, as long as the region stays the same. */
interface LimitShares {
  readonly whole: AnyLimit
  readonly limit: RegionalLimit
  readonly region: RegionStore
  /** Of keys without rows. */
  readonly plain: Share
  readonly byUnits: Map<number, Share>
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
  const scopes = new Map<string, ScopeLimit>()
  const transfers: Transfers = { sent: 0, received: 0, unitsSent: 0, unitsReceived: 0 }
  const shares = new WeakMap<AnyLimit, LimitShares>()
  let count = 0
  let changes = 0
  // A busy limit, and a busy key with rows, are looked up once: maps cost a tenth of a decision in memory.
  let lastScope: Scope | undefined
  let last: LimitShares | undefined
  let lastKey: string | undefined
  let lastEntry: Entry | undefined

  const find = ({ scope, key }: StateId): Entry | undefined => cells.get(scope.text)?.get(key)
  const entries = function* (): Generator<Entry> {
    for (const keys of cells.values()) yield* keys.values()
  }
  const drop = ({ id }: Entry): void => {
    cells.get(id.scope.text)?.delete(id.key)
    lastKey = undefined
    count -= 1
  }
  /** Runs a program on a cell, and keeps what it made of state and rows. Undefined if it made nothing, or there is no room. */
  const rewrite = (
    id: StateId,
    whole: AnyLimit,
    limit: RegionalLimit,
    program: (cell: Cell, now: Micros) => Cell | undefined,
  ): Rows | undefined => {
    const entry = find(id)
    if (entry === undefined && count >= maxCells) return undefined
    let made: Cell | undefined
    const kept = store.rewrite(id, tokenBucketKernel, (state, now) => {
      made = program({ bucket: state as BucketState | undefined, rows: entry?.rows }, now)
      const bucket = made?.bucket
      return bucket === undefined ? undefined : { limit: { ...whole, algorithm: tokenBucketKernel, plan: bucket.plan }, state: bucket }
    })
    const rows = made?.rows
    if (!kept || rows === undefined) return undefined
    changes += 1
    if (entry !== undefined) {
      Object.assign(entry, { whole, limit, rows, changed: changes, of: undefined })
      return rows
    }
    lastKey = undefined
    const keys = cells.get(id.scope.text) ?? new Map<string, Entry>()
    const own = { scope: id.scope, key: id.key }
    cells.set(id.scope.text, keys.set(id.key, { id: own, whole, limit, rows, changed: changes, share: undefined, of: undefined }))
    count += 1
    return rows
  }
  /** Rows of an era that is over are void. Their keys are settled before they are dropped, because only rows know the share that they had. */
  const settleAll = (): void => {
    for (const entry of entries()) {
      const { id, whole, limit, rows } = entry
      if (rows.era === region.era) continue
      const settled = store.rewrite(id, tokenBucketKernel, (state, now) => {
        const current = currentCell(region, { bucket: state as BucketState | undefined, rows }, limit, now)
        const bucket = adopted(region, current, limit)
        return { limit: { ...whole, algorithm: tokenBucketKernel, plan: bucket?.plan ?? limit.whole }, state: bucket }
      })
      if (settled) drop(entry)
    }
  }
  const become = (next: RegionStore): void => {
    const { era } = region
    region = next
    if (next.era !== era) settleAll()
  }
  const update: Escrow['update'] = (program) => {
    become(program(region, store.now()))
    become(open(region, statuses, store.now()))
  }
  const limitIn: Escrow['limitIn'] = (text, policy) => scopes.get(text) ?? scopeLimit(text, policy)
  const remember = (scope: Scope, whole: AnyLimit, limit: RegionalLimit): LimitShares => {
    scopes.set(scope.text, { scope, whole, limit })
    let known = shares.get(whole)
    if (known?.region !== region) {
      known = { whole, limit, region, plain: shareOf(whole, limit, region, undefined), byUnits: new Map() }
      shares.set(whole, known)
    }
    lastScope = scope
    last = known
    lastKey = undefined
    return known
  }
  const shareOfEntry = ({ rows }: Entry, { whole, limit, byUnits }: LimitShares): Share => {
    if (rows.era !== region.era) return shareOf(whole, limit, region, rows)
    const units = unitsIn(rows)
    // Of rows, only the era and the units in it matter to a share: keys with as many units have the same.
    const share = byUnits.get(units) ?? shareOf(whole, limit, region, newRows(region, units))
    byUnits.set(units, share)
    return share
  }
  update((fresh) => fresh)
  return {
    get region() {
      return region
    },
    get cells() {
      return count
    },
    limitOf({ id, limit: whole }, limit) {
      const known = last?.whole === whole && last.region === region && lastScope === id.scope ? last : remember(id.scope, whole, limit)
      if (count === 0) return known.plain.limit
      if (id.key !== lastKey) {
        lastEntry = find(id)
        lastKey = id.key
      }
      const entry = lastEntry
      if (entry === undefined) return known.plain.limit
      if (entry.of !== known || entry.share === undefined) {
        entry.share = shareOfEntry(entry, known)
        entry.of = known
        entry.whole = whole
        entry.limit = limit
      }
      return entry.share.limit
    },
    held(id, limit) {
      const entry = find(id)
      return heldOf(region, limit, entry?.rows, entry?.changed ?? 0)
    },
    limitIn,
    transfers,
    give({ id, limit: whole }, limit, to, wanted, most) {
      if (id.key.length > MAX_KEY_LENGTH) return false
      let units = 0
      const made = rewrite(id, whole, limit, (cell, now) => {
        units = unitsToGive(wanted, () => heldOf(region, limit, cell.rows, 0))
        return give(region, cell, limit, to, units, now, most)
      })
      const sent = made !== undefined
      if (sent) transfers.sent += 1
      if (sent) transfers.unitsSent += units
      return sent
    },
    page(to, cursor) {
      const found = [...entries()].filter(({ changed }) => changed > cursor).sort((a, b) => a.changed - b.changed)
      const some = found.slice(0, PAGE_ROWS)
      const rows = some.flatMap(({ id, rows: known }) => {
        const row = rowTo(region, { bucket: undefined, rows: known }, to)
        return row === undefined ? [] : [{ scope: id.scope.text, key: id.key, row }]
      })
      const all = some.length === found.length
      return { rows, status: all ? statusFor(region, to) : undefined, cursor: all ? changes : (some.at(-1) as Entry).changed }
    },
    receive({ rows, status }) {
      let fits = true
      for (const found of rows) {
        const known = limitIn(found.scope, found.row.policy)
        if (known === undefined) continue
        const { whole, limit, scope } = known
        let units = 0
        // Refused until the program has run: there may be no room for another key.
        let refused = true
        const merged = rewrite({ scope, key: found.key }, whole, limit, (cell, now) => {
          const next = merge(region, cell, limit, found.row, now)
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

export function isRewriting(store: Store): store is RewritingStore {
  const { now, rewrite } = store as Partial<RewritingStore>
  return typeof now === 'function' && typeof rewrite === 'function'
}
