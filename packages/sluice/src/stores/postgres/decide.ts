import { isRecord } from '../../algorithms/hold-record.ts'
import { batchOf } from '../batch/batch.ts'
import { InvalidReply, replay, validated } from '../batch/replay.ts'
import { decideByShares, type SharesUsed } from '../by-shares.ts'
import { plannedGroups } from '../group-options.ts'
import { hasShares } from '../region-port.ts'
import { type CallGroup, type DecideOptions, type GroupVerdict, StoreFailure } from '../store.ts'
import { isLog, nowOf, requestOf } from './encode.ts'
import type { Locking } from './lanes.ts'
import type { Query } from './query.ts'
import { guarded, throwIfStale } from './region-guard.ts'
import { replyOf } from './reply.ts'
import type { Statements } from './statements.ts'

/** The argument `waiting` of consume.sql, if `guard` in the same statement has locked the rows. */
const LOCKED = '3'

type Decide = (groups: readonly CallGroup[], options: DecideOptions | undefined, locking: Locking) => Promise<readonly GroupVerdict[]>

export function deciding(query: Query, statements: Statements): Decide {
  const run = async (wanted: readonly CallGroup[], options: DecideOptions | undefined, locking: Locking, used?: SharesUsed) => {
    const groups = plannedGroups(wanted)
    const charging = locking !== 'none'
    const batch = batchOf(groups, isLog)
    const now = nowOf(options)
    const request = requestOf(groups, batch, now, charging)
    const guard = used && guarded(request, used, now, charging)
    const values = (tries: number): readonly string[] => {
      if (guard === undefined) return request.values(waitingAt(tries))
      return guard.values(guard.locked && tries < 2 ? LOCKED : waitingAt(tries))
    }
    const [row] = await query(statements[guard?.statement ?? request.program], values, options, locking)
    if (used !== undefined) throwIfStale(row?.['reply'], request, used)
    return validated('postgres: the function', row?.['reply'], () => {
      const found = replyOf(row?.['reply'], groups, batch, request)
      const verdicts = replay(groups, batch, found, charging)
      if (!found.isSame(verdicts)) throw new InvalidReply()
      return verdicts
    })
  }

  const byShares = decideByShares('postgres', (groups, used, options: DecideOptions & { readonly locking: Locking }) =>
    run(groups, options, options.locking, used),
  )
  return async (groups, options, locking) => {
    if (!groups.some(({ calls }) => hasShares(calls))) return run(groups, options, locking)
    if (!groups.some(isUnsettled)) return byShares(groups, { ...options, locking })
    const settled = groups.filter((group) => !isUnsettled(group))
    const verdicts = (settled.length === 0 ? [] : await byShares(settled, { ...options, locking })).values()
    return groups.map((group) => (isUnsettled(group) ? UNSETTLED : (verdicts.next().value as GroupVerdict)))
  }
}

/**
 * Nothing could settle a hold of both a sliding window log and a region's share: SQL functions cannot settle logs, and compare-and-swap
 * cannot settle shares.
 */
function isUnsettled({ calls }: CallGroup): boolean {
  return calls.some(({ limit }) => isRecord(limit)) && calls.some(({ limit }) => isLog(limit)) && hasShares(calls)
}

const UNSETTLED: GroupVerdict = {
  failure: new StoreFailure('unavailable', 'no', 'postgres: a hold of a sliding window log cannot be in a group with a share of a region'),
}

/**
 * The argument `waiting` of consume.sql. After two null replies (others had inserted the same rows), new rows are inserted first, which
 * waits for such callers.
 */
function waitingAt(tries: number): string {
  return tries < 2 ? '1' : '2'
}
