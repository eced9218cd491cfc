import type { FoundRegion, RegionPort } from '../../stores/region-port.ts'
import type { CallOptions, StateId } from '../../stores/store.ts'
import { StoreFailure } from '../../stores/store.ts'
import type { Micros } from '../../time/micros.ts'
import { heldOf } from '../rights/cell.ts'
import type { RegionalLimit } from '../rights/limit.ts'
import { decodeRows, encodeRows, isOfRun, type StoredRows, storedRows } from './rows.ts'
import { bucketIn, type By, cellOf, type Made, presentState, recordRun, writeOf } from './cell.ts'
import type { Cell, RegionStore } from '../rights/state.ts'
import { newRows } from '../rights/transfer.ts'
import { limitOfKey } from '../rights/undivided.ts'

/** A key's state and rows (what was sent and received), without those of an earlier run (server lifetime). */
export interface RemoteCell {
  readonly region: RegionStore
  readonly cell: Cell
  /** The number of the rows' last change. */
  readonly change: number
  readonly now: Micros
}

export interface Read extends RemoteCell {
  readonly found: FoundRegion
  readonly stored: StoredRows | undefined
  readonly by: By
}

/** The limit by which a key is rewritten, or a function that chooses the limit; undefined: nothing is changed. */
export type RewriteBy = RegionalLimit | ((region: RegionStore, cell: Cell, stored: StoredRows | undefined) => By | undefined)

export interface RewriteParts {
  readonly port: RegionPort
  readonly time: () => Micros
  readonly maxCells: number
  regionIn(found: FoundRegion): RegionStore
  remember(region: RegionStore, begins: string): void
  rememberRows(id: StateId, change: number, stored: StoredRows | undefined): void
  refresh(options?: CallOptions): Promise<unknown>
}

export const MAX_ROUNDS = 64

/**
 * Calls `program` with a key's state and rows, and writes the result. Starts again if another process changed the key. Returns whether
 * something was written.
 */
export async function rewriteRemote(
  { port, time, maxCells, regionIn, remember, rememberRows, refresh }: RewriteParts,
  id: StateId,
  choose: RewriteBy,
  program: (read: Read) => Made,
  options: CallOptions | undefined,
): Promise<boolean> {
  let found = await port.read(id, time(), options)
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    if (recordRun(found) !== found.run) {
      await refresh(options)
      found = await port.read(id, time(), options)
      continue
    }
    const region = regionIn(found)
    remember(region, found.begins)
    const stored = found.cell.rows === undefined ? undefined : decodeRows(found.cell.rows)
    rememberRows(id, found.cell.change, stored)
    const rows = stored !== undefined && isOfRun(stored, region) ? stored.rows : undefined
    const chosen =
      typeof choose === 'function' ? choose(region, { bucket: bucketIn(found), rows }, stored) : { limit: choose, doubt: undefined }
    if (chosen === undefined) return false
    const by = { ...chosen, limit: limitOfKey(chosen.limit, id) }
    const cell = cellOf(found, region, stored, by.limit)
    const made = program({ found, stored, by, region, cell, change: found.cell.change, now: found.now })
    if (made === undefined) return false
    if (found.cell.bucket === undefined && made.settled !== true) {
      await port.write(id, found, presentState(region, cell, by, found.now), time(), options)
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
    // On a busy key, other calls keep changing the state. `touch` renumbers the rows, and the server then refuses calls of processes that
    // do not know the new number. So this process's next attempt can succeed.
    if (port.touch !== undefined && made.rows && answer.begins === before.begins && answer.cell.change === before.cell.change) {
      const same = stored ?? storedRows(region, by.limit, newRows(region, heldOf(region, by.limit, undefined, 0).units, by.limit))
      const stopped = await port.touch(id, answer, encodeRows(same), maxCells, time(), options)
      if (stopped === undefined) return false
      found = stopped
    }
  }
  throw contended()
}

export function contended(): StoreFailure {
  return new StoreFailure('contention', 'no', 'regions: other processes keep changing the rights of this region')
}
