import type { BucketState } from '../../algorithms/token-bucket.ts'
import type { RegionPort } from '../../stores/region-port.ts'
import type { CallOptions, Change, StateId } from '../../stores/store.ts'
import type { Micros } from '../../time/micros.ts'
import { convertedBucket, currentCell } from '../rights/cell.ts'
import { adopted } from '../rights/decide.ts'
import { type LastLimits, ownLimit } from '../last-limits.ts'
import type { RegionalLimit } from '../rights/limit.ts'
import { PAGE_ROWS } from '../replicator/messages.ts'
import { decodeRows, isOfRun, storedRows } from './rows.ts'
import { isSame, type Made } from './cell.ts'
import type { RemoteEras } from './eras.ts'
import type { RemoteKnown } from './known.ts'
import { type Read, type RemoteCell, type RewriteBy, rewriteRemote } from './rewrite.ts'
import { scopeLimit } from '../rights/scope-limit.ts'
import { shareOf } from '../rights/share.ts'
import type { Cell } from '../rights/state.ts'
import { keyed } from '../rights/undivided.ts'

export type Adjust = Extract<Change, { readonly kind: 'adjust' }>

/** Cells on a server: a key's state, and its rows (what was sent and received of it). */
export interface RemoteCells {
  read(id: StateId, limit: RegionalLimit, options?: CallOptions): Promise<RemoteCell>
  /**
   * Writes the state and rows that `program` returns for a cell. Returns false, and writes nothing, if it returns undefined or a cell
   * without rows, or if there is no room for the key.
   */
  transfer(id: StateId, by: RewriteBy, program: (read: Read) => Cell | undefined): Promise<boolean>
  /** Applies to a key's state all changes of weights (eras) since it was written. Removes the key's rows of an earlier era. */
  settle(id: StateId, by: RewriteBy, options?: CallOptions): Promise<void>
  /** Calls `settle` for all keys with rows of an earlier era. */
  settleAll(): Promise<void>
  /** Gives tokens back, or takes them, like `adjust` of the kernel. */
  adjust(change: Adjust, limit: RegionalLimit, options?: CallOptions): Promise<void>
}

export function createRemoteCells(
  port: RegionPort,
  time: () => Micros,
  maxCells: number,
  known: RemoteKnown,
  eras: RemoteEras,
  limits: LastLimits,
): RemoteCells {
  const { regionIn } = eras
  const { remember, rememberRows } = known
  const refresh = (options?: CallOptions): Promise<unknown> => eras.update((current) => current, options)
  const rewriting = { port, time, maxCells, regionIn, remember, rememberRows, refresh }
  const rewrite = (id: StateId, by: RewriteBy, program: (read: Read) => Made, options?: CallOptions): Promise<boolean> =>
    rewriteRemote(rewriting, id, by, program, options)
  const settle: RemoteCells['settle'] = async (id, by, options) => void (await rewrite(id, by, settled, options))
  return {
    async read(id, limit, options) {
      let cell: RemoteCell | undefined
      const keep = (read: Read): undefined => void (cell = read)
      await rewrite(id, limit, keep, options)
      return cell as unknown as RemoteCell
    },
    transfer: (id, by, program) =>
      rewrite(id, by, (read) => {
        const made = program(read)
        return made?.rows && { bucket: made.bucket, rows: storedRows(read.region, read.by.limit, made.rows) }
      }),
    settle,
    async settleAll() {
      let cursor = 0
      for (let all = false; !all;) {
        const found = await port.changedSince(cursor, PAGE_ROWS, time())
        const region = known.latest?.region
        for (const { id, rows } of found.rows) {
          const stored = decodeRows(rows)
          const isOld = region === undefined || !isOfRun(stored, region) || stored.rows.era !== region.era
          if (isOld) await settle(id, lastLimit(limits, id, stored.policy))
        }
        ;({ cursor, all } = found)
      }
    },
    async adjust(change, limit, options) {
      await rewrite(change.call.id, limit, (read) => adjusted(change, limit, read), options)
    },
  }
}

function settled({ found, region, cell, now, stored, by: { limit } }: Read): Made {
  const current = currentCell(region, cell, limit, now)
  // Normally only the state is written. If the limit has changed, the rows are written, too: a key without a state is full under the limit
  // that they name.
  if (current.rows !== undefined && stored?.policy !== limit.policy)
    return { bucket: convertedBucket(region, cell, limit, now), settled: true, rows: storedRows(region, limit, current.rows) }
  const bucket = current.units === 0 ? current.bucket : adopted(region, current, limit)
  const isVoid = found.cell.change > 0 && current.rows === undefined
  return isVoid || !isSame(found, bucket) ? { bucket, settled: true, ...(isVoid ? { rows: null } : {}) } : undefined
}

function adjusted({ call, amount, receipt }: Adjust, limit: RegionalLimit, { region, cell, now, stored, by }: Read): Made {
  const share = shareOf(call.limit, by.limit, region, cell.rows).limit
  if (share.capacity === 0) return undefined
  const { algorithm, plan } = share
  const state = cell.bucket === undefined ? undefined : algorithm.adopt(plan, cell.bucket, now, call.phase)
  const bucket = algorithm.adjust(plan, state, now, amount, call.phase, receipt) as BucketState | undefined
  const isOther = cell.rows?.era === region.era && stored?.policy !== limit.policy
  return { bucket, ...(isOther ? { rows: storedRows(region, limit, cell.rows) } : {}) }
}

/**
 * The limit by which a key was last called. Undefined if this process may not know that limit: the key's state then stays as it is until
 * the next call.
 * @param policy the limit that the key's rows name
 */
function lastLimit(limits: LastLimits, id: StateId, policy: string): RewriteBy {
  return (region, cell) => {
    const named = scopeLimit(id.scope.text, policy)
    const own = named && ownLimit(region, cell, keyed(named, id), keyed(limits.of(id), id), false, 0)
    return own?.doubt === undefined ? own : undefined
  }
}
