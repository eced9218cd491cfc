import type { AnyLimit } from '../algorithms/algorithm.ts'
import type { BucketState } from '../algorithms/token-bucket.ts'
import { type FoundRegion, type KnownShare, type KnownShares, type RegionPort, withShares } from '../stores/region-port.ts'
import { type Call, type CallOptions, type Change, nameOf, type StateId, StoreFailure } from '../stores/store.ts'
import { MAX_MICROS, type Micros } from '../time/micros.ts'
import { currentCell, lastShift, unitsOf } from './cell.ts'
import { adopted } from './decide.ts'
import { meet, open, statusFor } from './era.ts'
import type { Page } from './escrow.ts'
import { limitNamed, type RegionalLimit } from './limit.ts'
import { MAX_KEY_LENGTH, PAGE_ROWS } from './messages.ts'
import { inRun } from './recovery.ts'
import { decodeRegion, decodeRows, encodeRegion, type StoredRows } from './region-record.ts'
import type { Region, Roster } from './roster.ts'
import { cellOf, isSame, type Made, presentState, recordRun, recordRunOf, settledAt, writeOf } from './remote-cell.ts'
import { plainShare, shareOf } from './share.ts'
import type { Cell, RegionStore, Run, Status } from './state.ts'
import { give, merge, rowTo } from './transfer.ts'

type Adjust = Extract<Change, { readonly kind: 'adjust' }>

/** One region's part of escrow, over a store on a server that many processes share. What it knows may be out of date; the server compares. */
export interface RemoteEscrow {
  /** As last read; undefined until then. */
  readonly known: RegionStore | undefined
  /** Reads what the server knows of the regions. Begins a new run if the server is another one. */
  region(options?: CallOptions): Promise<RegionStore>
  /** The limit by which a call of a token bucket is decided. */
  limitOf(call: Pick<Call, 'id' | 'limit'>, limit: RegionalLimit): AnyLimit
  /** What the server has of a key. */
  read(id: StateId, limit: RegionalLimit, options?: CallOptions): Promise<RemoteCell>
  /** As of `Escrow`. */
  give(call: Pick<Call, 'id' | 'limit'>, limit: RegionalLimit, to: Region, units: number, most?: number): Promise<boolean>
  page(to: Region, cursor: number): Promise<Page>
  receive(page: Page): Promise<boolean>
  update(program: (region: RegionStore, now: Micros) => RegionStore, options?: CallOptions): Promise<RegionStore>
  /** Gives tokens back, or takes them, as `adjust` of the kernel. */
  adjust(change: Adjust, limit: RegionalLimit, options?: CallOptions): Promise<void>
  cursorOf(peer: RegionStore): number
  setCursor(peer: RegionStore, cursor: number): void
}

/** A cell as it was read, and what of it counts in this run. */
export interface RemoteCell {
  readonly region: RegionStore
  readonly cell: Cell
  readonly now: Micros
}

interface Read extends RemoteCell {
  readonly found: FoundRegion
}

const MAX_ROUNDS = 16
/** Rows that are merged at once. */
const MERGED = 32

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
  let known: { readonly region: RegionStore; readonly begins: string } | undefined
  const statuses = new Map<Region, Status>()
  const cursors = new Map<Region, { readonly run: Run; readonly own: Run; readonly era: number; readonly at: number }>()
  const rows = new Map<string, { readonly change: number; readonly stored: StoredRows }>()
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
  const update: RemoteEscrow['update'] = async (program, options) => {
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
  const region = async (options?: CallOptions): Promise<RegionStore> => update((current) => current, options)
  /** Runs a program on a cell until no other process was faster. */
  const rewrite = async (id: StateId, limit: RegionalLimit, program: (read: Read) => Made, options?: CallOptions): Promise<boolean> => {
    let found = await port.read(id, time(), options)
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      if (recordRun(found) !== found.run) {
        await region(options)
        found = await port.read(id, time(), options)
        continue
      }
      const current = regionIn(found)
      remember(current, found.begins)
      const stored = decodeRows(found.cell.rows)
      rememberRows(id, found.cell.change, stored)
      const cell = cellOf(found, current, stored, limit)
      const made = program({ found, region: current, now: found.now, cell })
      if (made === undefined) return false
      if (found.cell.bucket === undefined && made.settled !== true) {
        await port.write(id, found, presentState(current, cell, limit, found.now), time(), options)
        found = await port.read(id, time(), options)
        continue
      }
      const answer = await port.write(id, found, { ...writeOf(made), maxCells }, time(), options)
      if (answer === 0) return false
      if (typeof answer === 'number') {
        if (made.rows !== undefined) rememberRows(id, answer, made.rows ?? undefined)
        return true
      }
      found = answer
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
  const storedRows = (id: StateId, current: RegionStore, { policy }: RegionalLimit, { rows: made }: Cell): StoredRows | undefined =>
    made && { run: current.run, scope: id.scope.text, key: id.key, policy, rows: made }
  const transfer = (id: StateId, limit: RegionalLimit, program: (read: Read) => Cell | undefined): Promise<boolean> =>
    rewrite(id, limit, (read) => {
      const cell = program(read)
      const stored = cell && storedRows(id, read.region, limit, cell)
      return cell && stored && { bucket: cell.bucket, rows: stored }
    })
  const shares = (whole: AnyLimit, limit: RegionalLimit): KnownShares => {
    const byUnits = new Map<number, AnyLimit>()
    let plain: { readonly of: typeof known; readonly share: KnownShare } | undefined
    const make = (current: RegionStore, change: number, stored: StoredRows | undefined): KnownShare => {
      const units = unitsOf(current, { bucket: undefined, rows: stored?.rows }, limit)
      const share = byUnits.get(units) ?? plainShare(whole, limit, units)
      byUnits.set(units, share)
      const isVoid = change > 0 && stored?.rows.era !== current.era
      return { limit: share, holds: units > 0, change, settled: isVoid ? MAX_MICROS : settledAt(current, limit, units) }
    }
    return {
      get view() {
        if (known === undefined) return undefined
        return { run: known.region.run, begins: known.begins, shiftedAt: lastShift(known.region).at }
      },
      shareOf(id) {
        const { region: current } = known as NonNullable<typeof known>
        const found = rows.size === 0 ? undefined : rows.get(nameOf(id))
        if (found !== undefined) return make(current, found.change, found.stored.run === current.run ? found.stored : undefined)
        // Most keys have no rows, and one share.
        const fresh = plain !== undefined && plain.of === known ? plain : { of: known, share: make(current, 0, undefined) }
        plain = fresh
        return fresh.share
      },
      refresh: async (options) => void (await region(options)),
      settle: (id, options) => settle(id, limit, options),
    }
  }
  return {
    get known() {
      return known?.region
    },
    region,
    limitOf({ limit: whole }, limit) {
      const made = marked.get(whole) ?? withShares(whole, shares(whole, limit))
      marked.set(whole, made)
      return made
    },
    async read(id, limit, options) {
      let cell: RemoteCell | undefined
      const keep = (read: Read): undefined => void (cell = read)
      await rewrite(id, limit, keep, options)
      return cell as unknown as RemoteCell
    },
    async give({ id }, limit, to, units, most) {
      if (id.key.length > MAX_KEY_LENGTH) return false
      return transfer(id, limit, ({ region: current, cell, now }) => give(current, cell, limit, to, units, now, most))
    },
    async page(to, cursor) {
      await region()
      const found = await port.changedSince(cursor, PAGE_ROWS, time())
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
        const merged = await transfer(id, limit, ({ region: current, cell, now }) => {
          const next = merge(current, cell, limit, row, now)
          refused = next !== undefined
          return next
        })
        if (!merged && refused) fits = false
      }
      for (let from = 0; from < found.length; from += MERGED) await Promise.all(found.slice(from, from + MERGED).map(one))
      if (status !== undefined) {
        statuses.set(status.from, status)
        await update((current, now) => meet(current, status, now))
      }
      return fits
    },
    update,
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
