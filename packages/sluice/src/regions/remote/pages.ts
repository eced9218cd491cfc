import type { RegionPort } from '../../stores/region-port.ts'
import { nameOf } from '../../stores/store.ts'
import type { Micros } from '../../time/micros.ts'
import { statusFor } from '../rights/era.ts'
import type { Ledger } from '../ledger.ts'
import { PAGE_ROWS } from '../replicator/messages.ts'
import { decodeRegion } from './record.ts'
import { decodeRows, isOfRun } from './rows.ts'
import { recordRunOf } from './cell.ts'
import type { Region } from '../rights/roster.ts'
import type { Page } from '../rights/state.ts'
import { rowTo } from '../rights/transfer.ts'

export interface RemotePages {
  /** How many keys had rows at the latest page. */
  readonly cells: number
  /** What was sent to a peer after the change number `cursor`. This region's record (`RegionStore`) must have been read before. */
  page(to: Region, cursor: number): Promise<Page>
  readonly changedKeys: NonNullable<Ledger['changedKeys']>
}

export function createRemotePages(port: RegionPort, time: () => Micros): RemotePages {
  let cells = 0
  return {
    get cells() {
      return cells
    },
    async page(to, cursor) {
      const found = await port.changedSince(cursor, PAGE_ROWS, time())
      cells = found.cells ?? cells
      const region = recordRunOf(found.record) === found.run ? decodeRegion(found.record) : undefined
      if (region === undefined) return { rows: [], status: undefined, cursor }
      const rows = found.rows.flatMap(({ id, rows: text }) => {
        const stored = decodeRows(text)
        if (!isOfRun(stored, region)) return []
        const made = rowTo(region, { bucket: undefined, rows: stored.rows }, to)
        return made === undefined ? [] : [{ scope: id.scope.text, key: id.key, row: made }]
      })
      return { rows, status: found.all ? statusFor(region, to) : undefined, cursor: found.cursor }
    },
    async changedKeys(cursor) {
      // Without a cursor, reads only the number of the latest change.
      const found = await port.changedSince(cursor ?? Number.MAX_SAFE_INTEGER, PAGE_ROWS, time())
      const isWhole = cursor !== undefined && found.all && found.cursor >= cursor
      return { names: isWhole ? found.rows.map(({ id }) => nameOf(id)) : undefined, cursor: found.cursor }
    },
  }
}
