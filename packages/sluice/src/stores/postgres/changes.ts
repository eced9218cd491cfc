import { HOLD_RECORDS, RECORD_COST } from '../../algorithms/hold-record.ts'
import { type Adjustment, type ChangeRun, inRuns } from '../batch/change-runs.ts'
import { validated } from '../batch/replay.ts'
import type { SharesUsed } from '../by-shares.ts'
import { changingByShares } from '../holds-by-shares.ts'
import { stateName } from '../region-port.ts'
import {
  type Call,
  type CallOptions,
  type Change,
  changedState,
  changedStates,
  type ChangeResult,
  type HoldChange,
  isOfHold,
  type Store,
} from '../store.ts'
import {
  adjustmentValues,
  arrayText,
  digestOf,
  digestsOf,
  hasFunctions,
  isLog,
  isOther,
  nowOf,
  type Release,
  releaseValues,
} from './encode.ts'
import type { Query } from './query.ts'
import { numbersOf } from './reply.ts'
import { type ComparedStates, guardValues, throwIfStale } from './region-guard.ts'
import { settleResults, settleValues } from './settle.ts'
import type { Statements } from './statements.ts'

/** The length that makes the SQL function `block` end a block. */
const UNBLOCK = -1

/** One statement makes neighbouring changes of one kind. */
export function changing(query: Query, statements: Statements): Store['change'] {
  const settle = async (changes: readonly HoldChange[], options: CallOptions | undefined): Promise<ChangeResult[]> => {
    const [row] = await query(statements.settle, [nowOf(options), ...settleValues(changes)], options, 'wait')
    const reply = row?.['reply']
    return validated('postgres: the function', reply, () => settleResults(typeof reply === 'string' ? numbersOf(reply) : [], changes))
  }

  const settleGuarded = async (change: HoldChange, used: SharesUsed, options: CallOptions | undefined): Promise<ChangeResult> => {
    const now = nowOf(options)
    const compared = comparedStates(change)
    const guard = guardValues(compared, used, now, true)
    const [row] = await query(statements.guarded_settle, [...guard, now, ...settleValues([change])], options, 'wait')
    const reply = row?.['reply']
    throwIfStale(reply, compared, used)
    return validated('postgres: the function', reply, () => {
      return settleResults(typeof reply === 'string' ? numbersOf(reply) : [], [change])[0] as ChangeResult
    })
  }

  const make = (run: ChangeRun, options: CallOptions | undefined): Promise<unknown> => {
    const [first] = run as readonly [Change]
    if (first.kind === 'adjust') {
      const values = adjustmentValues(run as readonly Adjustment[])
      return query(statements.adjust, [nowOf(options), String(first.receipt ?? -1), ...values], options, 'wait')
    }
    if (first.kind === 'release') {
      return query(statements.release, [nowOf(options), ...releaseValues(run as readonly Release[])], options, 'wait')
    }
    const ids = arrayText(digestsOf(run.map(changedState)))
    if (first.kind === 'reset') return query(statements.reset, [ids], options, 'wait')
    const length = first.kind === 'block' ? first.micros : UNBLOCK
    return query(statements.block, [nowOf(options), String(length), ids], options, 'wait')
  }
  const plain: Store['change'] = (changes, options) =>
    inRuns(changes, async (run) => (run.every(isOfHold) ? settle(run, options) : void (await make(run, options))))
  return changingByShares('postgres', plain, settleGuarded)
}

/** The states of the hold's record and of the change's calls. */
function comparedStates(change: HoldChange): ComparedStates {
  const record: Call = { id: change.id, limit: HOLD_RECORDS, cost: RECORD_COST, phase: 0 }
  const firsts = new Map([record, ...change.calls].toReversed().map((first) => [digestOf(first.id), first]))
  const ids = digestsOf(changedStates(change))
  return { ids, states: ids.map((id) => firsts.get(id) as Call).map((first) => ({ name: stateName(first.id), first })) }
}

export function isChanged(change: Change): boolean {
  if (isOfHold(change)) return change.calls.every(({ limit }) => hasFunctions(limit) && !isLog(limit))
  return change.kind !== 'adjust' || (hasFunctions(change.call.limit) && !isOther(change.call.limit))
}
