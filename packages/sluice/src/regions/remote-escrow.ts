import type { AnyLimit } from '../algorithms/algorithm.ts'
import type { BucketState } from '../algorithms/token-bucket.ts'
import { type FoundRegion, type RegionPort, withShares } from '../stores/region-port.ts'
import { type Call, type CallOptions, type Change, nameOf, type Scope, type StateId, StoreFailure } from '../stores/store.ts'
import type { Micros } from '../time/micros.ts'
import { eachBounded } from './bounded.ts'
import { convertedBucket, currentCell, heldOf, type UnitsToGive, unitsToGive } from './cell.ts'
import { adopted } from './decide.ts'
import { meet, open, statusFor } from './era.ts'
import type { Page } from './state.ts'
import type { Ledger } from './ledger.ts'
import { createLastLimits, ownLimit } from './last-limits.ts'
import type { RegionalLimit } from './limit.ts'
import { isNameable, PAGE_ROWS } from './messages.ts'
import { inRun, newRun } from './recovery.ts'
import { decodeRegion, decodeRows, encodeRegion, type StoredRows } from './region-record.ts'
import type { Region, Roster } from './roster.ts'
import { isSame, type Made, recordRun, recordRunOf, storedRows } from './remote-cell.ts'
import { contended, MAX_ROUNDS, type Read, type RemoteCell, type RewriteBy, rewriteRemote } from './remote-rewrite.ts'
import { createShares, type KnownRegion, type KnownRows } from './remote-shares.ts'
import { type ScopeLimit, scopeLimit } from './scope-limit.ts'
import { shareOf } from './share.ts'
import type { Cell, RegionStore, Run, Status, Transfers } from './state.ts'
import { give, merge, rowTo, unitsReceived } from './transfer.ts'
import { keyed, limitOfKey } from './undivided.ts'

type Adjust = Extract<Change, { readonly kind: 'adjust' }>

/**
 * One region's part of escrow, over a store on a server that many processes share. What it knows may be out of date; the server compares.
 * Before it has read anything, `region` is learning, and holds nothing. `transfers` are those of this process.
 */
export interface RemoteEscrow extends Ledger {
  /** Reads what the server knows of the regions. Begins a new run if the server is another one. */
  refresh(options?: CallOptions): Promise<RegionStore>
  /** The limit by which a call of a token bucket is decided. */
  limitOf(call: Pick<Call, 'id' | 'limit'>, limit: RegionalLimit): AnyLimit
  /** What the server has of a key. */
  read(id: StateId, limit: RegionalLimit, options?: CallOptions): Promise<RemoteCell>
  /** Gives tokens back, or takes them, as `adjust` of the kernel. */
  adjust(change: Adjust, limit: RegionalLimit, options?: CallOptions): Promise<void>
  cursorOf(peer: RegionStore): number
  setCursor(peer: RegionStore, cursor: number): void
}

/**
 * @param roster by configuration
 * @param maxCells the most keys with rows
 * @param time decides as if it were this time; 0 for the server's clock
 */
export function createRemoteEscrow(
  port: RegionPort,
  self: Region,
  roster: Roster,
  maxCells: number,
  time: () => Micros = () => 0,
): RemoteEscrow {
  const unread: RegionStore = { ...newRun(self, '', roster, 0), phase: 'learning' }
  const transfers: Transfers = { sent: 0, received: 0, unitsSent: 0, unitsReceived: 0 }
  let known: KnownRegion | undefined
  let keysWithRows = 0
  const statuses = new Map<Region, Status>()
  const cursors = new Map<Region, { readonly run: Run; readonly own: Run; readonly era: number; readonly at: number }>()
  const rows = new Map<string, KnownRows>()
  const marked = new WeakMap<AnyLimit, AnyLimit>()
  const limits = createLastLimits()
  let lastScope: Scope | undefined
  let lastWhole: AnyLimit | undefined

  const remember = (region: RegionStore, begins: string): void => {
    if (region.run !== known?.region.run) rows.clear()
    if (begins !== known?.begins) known = { region, begins }
  }
  const rememberRows = (id: StateId, change: number, stored: StoredRows | undefined): void => {
    rows.delete(nameOf(id))
    if (stored !== undefined) rows.set(nameOf(id), { change, stored })
    if (rows.size > maxCells) rows.delete(rows.keys().next().value as string)
  }
  const regionIn = ({ run, record, now }: FoundRegion): RegionStore => {
    const stored = record === undefined ? undefined : decodeRegion(record)
    if (stored?.run === run && stored.region !== self)
      throw new StoreFailure(
        'setup',
        'no',
        `regions: region ${stored.region} has this store, and region ${self} needs one, or a prefix, of its own`,
      )
    return inRun(stored, self, run, roster, now + 1)
  }
  /** Changes the region's state until no other process was faster. A shift is one microsecond later than all states that do not know it. */
  const update = async (program: Parameters<Ledger['update']>[0], options?: CallOptions): Promise<RegionStore> => {
    let found = await port.read(undefined, time(), options)
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const before = regionIn(found)
      const next = open(program(before, found.now + 1), statuses, found.now + 1)
      if (next === before && found.record !== undefined && before.run === recordRun(found)) {
        remember(before, found.begins)
        return before
      }
      const answer = await port.write(undefined, found, { record: encodeRegion(next) }, time(), options)
      if (typeof answer === 'number') {
        const ended = known?.region.era !== next.era
        remember(next, `${found.run} ${answer} `)
        if (ended) await settleAll()
        return next
      }
      found = answer
    }
    throw contended()
  }
  const refresh = (options?: CallOptions): Promise<RegionStore> => update((current) => current, options)
  const rewriting = { port, time, maxCells, regionIn, remember, rememberRows, refresh }
  const rewrite = (id: StateId, by: RewriteBy, program: (read: Read) => Made, options?: CallOptions): Promise<boolean> =>
    rewriteRemote(rewriting, id, by, program, options)
  /** Chooses the limit of a cell of which something names one: other processes may have called it by another. */
  const ownOf =
    (id: StateId, named: ScopeLimit): RewriteBy =>
    (current, cell) =>
      ownLimit(current, cell, keyed(named, id), keyed(limits.of(id), id), false, limits.fillOf(id.scope.text))
  /** The limit of a cell that was transferred by another one at last, or by the same. Undefined if it is in doubt: its next call settles it. */
  const lastOf =
    (id: StateId, policy: string): RewriteBy =>
    (current, cell) => {
      const named = scopeLimit(id.scope.text, policy)
      const own = named && ownLimit(current, cell, keyed(named, id), keyed(limits.of(id), id), false, 0)
      return own?.doubt === undefined ? own : undefined
    }
  /** Applies what happened to the region since to a state, and removes rows that are void. */
  const settle = async (id: StateId, by: RewriteBy, options?: CallOptions): Promise<void> => {
    await rewrite(
      id,
      by,
      ({ found, region: current, cell, now, stored, by: { limit } }) => {
        const settled = currentCell(current, cell, limit, now)
        // The rows name the limit of the last use, by which a state that is absent was full.
        if (settled.rows !== undefined && stored?.policy !== limit.policy)
          return { bucket: convertedBucket(current, cell, limit, now), settled: true, rows: storedRows(id, current, limit, settled.rows) }
        const bucket = settled.units === 0 ? settled.bucket : adopted(current, settled, limit)
        const isVoid = found.cell.change > 0 && settled.rows === undefined
        return isVoid || !isSame(found, bucket) ? { bucket, settled: true, ...(isVoid ? { rows: null } : {}) } : undefined
      },
      options,
    )
  }
  /** Rows of an era that is over are void; their keys are settled, because only rows know the share that they had. */
  const settleAll = async (): Promise<void> => {
    let cursor = 0
    for (let all = false; !all;) {
      const found = await port.changedSince(cursor, PAGE_ROWS, time())
      const stale = found.rows.map(decodeRows).filter((row) => row !== undefined)
      const old = stale.filter((row) => row.run !== known?.region.run || row.rows.era !== known.region.era)
      for (const { scope, key, policy } of old)
        await settle({ scope: { text: scope }, key }, lastOf({ scope: { text: scope }, key }, policy))
      ;({ cursor, all } = found)
    }
  }
  const transfer = (id: StateId, by: RewriteBy, program: (read: Read) => Cell | undefined): Promise<boolean> =>
    rewrite(id, by, (read) => {
      const made = program(read)
      return made?.rows && { bucket: made.bucket, rows: storedRows(id, read.region, read.by.limit, made.rows) }
    })
  const send = async (id: StateId, by: RewriteBy, to: Region, wanted: UnitsToGive, most?: number): Promise<boolean> => {
    if (!isNameable(id)) return false
    let units = 0
    const sent = await transfer(id, by, ({ region: current, cell, now, by: { limit, doubt } }) => {
      units = unitsToGive(wanted, () => heldOf(current, limit, cell.rows, 0))
      return give(current, cell, limit, to, units, now, most, doubt)
    })
    if (sent) transfers.sent += 1
    if (sent) transfers.unitsSent += units
    return sent
  }
  const readCell: RemoteEscrow['read'] = async (id, limit, options) => {
    let cell: RemoteCell | undefined
    const keep = (read: Read): undefined => void (cell = read)
    await rewrite(id, limit, keep, options)
    return cell as unknown as RemoteCell
  }
  const parts = {
    get known() {
      return known
    },
    rowsOf: (id: StateId) => (rows.size === 0 ? undefined : rows.get(nameOf(id))),
    refresh,
    settle,
  }
  return {
    get region() {
      return known?.region ?? unread
    },
    get cells() {
      return keysWithRows
    },
    transfers,
    refresh,
    limits,
    limitIn: (id, policy) => limits.of(id) ?? scopeLimit(id.scope.text, policy),
    limitOf({ id: { scope }, limit: whole }, limit) {
      if (scope !== lastScope || whole !== lastWhole) limits.called(scope, whole, limit)
      ;[lastScope, lastWhole] = [scope, whole]
      const made = marked.get(whole) ?? withShares(whole, createShares(parts, whole, limit))
      marked.set(whole, made)
      return made
    },
    read: readCell,
    async held(id, limit) {
      const found = await readCell(id, limit)
      return heldOf(found.region, limitOfKey(limit, id), found.cell.rows, found.change)
    },
    give: ({ id }, limit, to, wanted, most) => send(id, limit, to, wanted, most),
    async lend(id, policy, to, wanted) {
      const named = scopeLimit(id.scope.text, policy)
      return named !== undefined && send(id, ownOf(id, named), to, wanted)
    },
    async changedKeys(cursor) {
      // Without a cursor, only the number of the latest change is read.
      const found = await port.changedSince(cursor ?? Number.MAX_SAFE_INTEGER, PAGE_ROWS, time())
      const isWhole = cursor !== undefined && found.all && found.cursor >= cursor
      const names = found.rows
        .map(decodeRows)
        .flatMap((row) => (row === undefined ? [] : [nameOf({ scope: { text: row.scope }, key: row.key })]))
      return { names: isWhole ? names : undefined, cursor: found.cursor }
    },
    async page(to, cursor) {
      await refresh()
      const found = await port.changedSince(cursor, PAGE_ROWS, time())
      keysWithRows = found.cells ?? keysWithRows
      const current = recordRunOf(found.record) === found.run ? decodeRegion(found.record) : undefined
      if (current === undefined) return { rows: [], status: undefined, cursor }
      const own = found.rows.flatMap((row) => {
        const stored = decodeRows(row)
        if (stored === undefined || stored.run !== current.run) return []
        const made = rowTo(current, { bucket: undefined, rows: stored.rows }, to)
        return made === undefined ? [] : [{ scope: stored.scope, key: stored.key, row: made }]
      })
      return { rows: own, status: found.all ? statusFor(current, to) : undefined, cursor: found.cursor }
    },
    async receive({ rows: found, status }) {
      let fits = true
      const one = async ({ scope, key, row }: Page['rows'][number]): Promise<void> => {
        const named = scopeLimit(scope, row.policy)
        if (named === undefined) return
        const id = { scope: named.scope, key }
        // Refused until the program has run: there may be no room for another key.
        let refused = true
        let units = 0
        const merged = await transfer(id, ownOf(id, named), ({ region: current, cell, now, by: { limit, doubt } }) => {
          const next = merge(current, cell, limit, row, now, doubt)
          refused = next !== undefined
          units = unitsReceived(current, cell, next)
          return next
        })
        if (!merged && refused) fits = false
        if (merged) transfers.received += 1
        if (merged) transfers.unitsReceived += units
      }
      await eachBounded(found, one)
      if (status !== undefined) {
        statuses.set(status.from, status)
        await update((current, now) => meet(current, status, now))
      }
      return fits
    },
    update: (program) => update(program),
    async adjust({ call, amount, receipt }, limit, options) {
      await rewrite(
        call.id,
        limit,
        ({ region: current, cell, now, stored, by: { limit: own } }) => {
          const share = shareOf(call.limit, own, current, cell.rows).limit
          if (share.capacity === 0) return undefined
          const { algorithm, plan } = share
          const state = cell.bucket === undefined ? undefined : algorithm.adopt(plan, cell.bucket, now, call.phase)
          const bucket = algorithm.adjust(plan, state, now, amount, call.phase, receipt) as BucketState | undefined
          const isOther = cell.rows?.era === current.era && stored?.policy !== limit.policy
          return { bucket, ...(isOther ? { rows: storedRows(call.id, current, limit, cell.rows) } : {}) }
        },
        options,
      )
    },
    cursorOf(peer) {
      const found = cursors.get(peer.region)
      const own = known?.region
      return found !== undefined && found.run === peer.run && found.own === own?.run && found.era === own.era ? found.at : 0
    },
    setCursor(peer, at) {
      if (known === undefined) return
      cursors.set(peer.region, { run: peer.run, own: known.region.run, era: known.region.era, at })
    },
  }
}
