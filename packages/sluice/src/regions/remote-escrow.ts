import type { AnyLimit } from '../algorithms/algorithm.ts'
import type { BucketState } from '../algorithms/token-bucket.ts'
import { type FoundRegion, type RegionPort, withShares } from '../stores/region-port.ts'
import { type Call, type CallOptions, type Change, nameOf, type StateId, StoreFailure } from '../stores/store.ts'
import type { Micros } from '../time/micros.ts'
import { eachBounded } from './bounded.ts'
import { currentCell, heldOf, unitsToGive } from './cell.ts'
import { adopted } from './decide.ts'
import { meet, open, statusFor } from './era.ts'
import type { Page, Transfers } from './escrow.ts'
import type { Ledger } from './ledger.ts'
import { limitNamed, type RegionalLimit } from './limit.ts'
import { MAX_KEY_LENGTH, PAGE_ROWS } from './messages.ts'
import { inRun, newRun } from './recovery.ts'
import { decodeRegion, decodeRows, encodeRegion, encodeRows, type StoredRows } from './region-record.ts'
import type { Region, Roster } from './roster.ts'
import { cellOf, isSame, type Made, presentState, recordRun, recordRunOf, storedRows, writeOf } from './remote-cell.ts'
import { createShares, type KnownRegion, type KnownRows } from './remote-shares.ts'
import { scopeLimit } from './scope-limit.ts'
import { shareOf } from './share.ts'
import type { Cell, RegionStore, Run, Status } from './state.ts'
import { give, merge, newRows, rowTo, unitsReceived } from './transfer.ts'

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

/** A cell as it was read, and what of it counts in this run. */
export interface RemoteCell {
  readonly region: RegionStore
  readonly cell: Cell
  /** The number of the last change of its rows. */
  readonly change: number
  readonly now: Micros
}

interface Read extends RemoteCell {
  readonly found: FoundRegion
}

const MAX_ROUNDS = 64

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
    return inRun(record === undefined ? undefined : decodeRegion(record), self, run, roster, now + 1)
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
  /** Runs a program on a cell until no other process was faster. */
  const rewrite = async (id: StateId, limit: RegionalLimit, program: (read: Read) => Made, options?: CallOptions): Promise<boolean> => {
    let found = await port.read(id, time(), options)
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      if (recordRun(found) !== found.run) {
        await refresh(options)
        found = await port.read(id, time(), options)
        continue
      }
      const current = regionIn(found)
      remember(current, found.begins)
      const stored = decodeRows(found.cell.rows)
      rememberRows(id, found.cell.change, stored)
      const cell = cellOf(found, current, stored, limit)
      const made = program({ found, region: current, cell, change: found.cell.change, now: found.now })
      if (made === undefined) return false
      if (found.cell.bucket === undefined && made.settled !== true) {
        await port.write(id, found, presentState(current, cell, limit, found.now), time(), options)
        found = await port.read(id, time(), options)
        continue
      }
      const before = found
      const answer = await port.write(id, before, { ...writeOf(made), maxCells }, time(), options)
      if (answer === 0) return false
      if (typeof answer === 'number') {
        if (made.rows !== undefined) rememberRows(id, answer, made.rows ?? undefined)
        return true
      }
      found = answer
      // On a busy key each state is another one by the time at which it is replaced. While its rows have another number than processes know,
      // they do not decide calls of the key. This process knows the number first.
      if (port.touch !== undefined && made.rows && answer.begins === before.begins && answer.cell.change === before.cell.change) {
        const same = stored ?? storedRows(id, current, limit, newRows(current, heldOf(current, limit, undefined, 0).units))
        const stopped = await port.touch(id, answer, encodeRows(same), maxCells, time(), options)
        if (stopped === undefined) return false
        found = stopped
      }
    }
    throw contended()
  }
  /** Applies what happened to the region since to a state, and removes rows that are void. */
  const settle = async (id: StateId, limit: RegionalLimit, options?: CallOptions): Promise<void> => {
    await rewrite(
      id,
      limit,
      ({ found, region: current, cell, now }) => {
        const settled = currentCell(current, cell, limit, now)
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
      for (const { scope, key, policy } of old) {
        const limit = limitNamed(policy)
        if (limit !== undefined) await settle({ scope: { text: scope }, key }, limit)
      }
      ;({ cursor, all } = found)
    }
  }
  const transfer = (id: StateId, limit: RegionalLimit, program: (read: Read) => Cell | undefined): Promise<boolean> =>
    rewrite(id, limit, (read) => {
      const made = program(read)
      return made?.rows && { bucket: made.bucket, rows: storedRows(id, read.region, limit, made.rows) }
    })
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
    limitIn: scopeLimit,
    limitOf({ limit: whole }, limit) {
      const made = marked.get(whole) ?? withShares(whole, createShares(parts, whole, limit))
      marked.set(whole, made)
      return made
    },
    read: readCell,
    async held(id, limit) {
      const found = await readCell(id, limit)
      return heldOf(found.region, limit, found.cell.rows, found.change)
    },
    async give({ id }, limit, to, wanted, most) {
      if (id.key.length > MAX_KEY_LENGTH) return false
      let units = 0
      const sent = await transfer(id, limit, ({ region: current, cell, now }) => {
        units = unitsToGive(wanted, () => heldOf(current, limit, cell.rows, 0))
        return give(current, cell, limit, to, units, now, most)
      })
      if (sent) transfers.sent += 1
      if (sent) transfers.unitsSent += units
      return sent
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
        const limit = limitNamed(row.policy)
        if (limit === undefined) return
        const id = { scope: { text: scope }, key }
        // Refused until the program has run: there may be no room for another key.
        let refused = true
        let units = 0
        const merged = await transfer(id, limit, ({ region: current, cell, now }) => {
          const next = merge(current, cell, limit, row, now)
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
        ({ region: current, cell, now }) => {
          const share = shareOf(call.limit, limit, current, cell.rows).limit
          if (share.capacity === 0) return undefined
          const { algorithm, plan } = share
          const state = cell.bucket === undefined ? undefined : algorithm.adopt(plan, cell.bucket, now, call.phase)
          return { bucket: algorithm.adjust(plan, state, now, amount, call.phase, receipt) as BucketState | undefined }
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

function contended(): StoreFailure {
  return new StoreFailure('contention', 'no', 'regions: other processes keep changing the rights of this region')
}
