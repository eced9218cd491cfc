import { stateName } from '../keys/encode.ts'
import type { AnyLimit } from '../algorithms/algorithm.ts'
import type { BucketPlan } from '../algorithms/bucket-plan.ts'
import { type KnownShare, type KnownShares, hasShares, sharesOf } from './region-port.ts'
import {
  type Call,
  type CallGroup,
  type CallOptions,
  failedBy,
  type GroupVerdict,
  type StateId,
  type Store,
  StoreFailure,
} from './store.ts'

/** A key that is decided by a share. */
export interface ShareCell {
  readonly id: StateId
  /** Of its state. */
  readonly name: string
  readonly shares: KnownShares
  readonly known: KnownShare
}

/** By which shares groups are decided, and what they were computed from. */
export interface SharesUsed {
  readonly view: NonNullable<KnownShares['view']>
  readonly cells: readonly ShareCell[]
}

/** How often a group is sent again because what the process knew of the shares was out of date. */
const MAX_ROUNDS = 16

/** Thrown where the server has other shares than the process. Nothing was charged. */
export class StaleShares extends Error {
  /** The numbers of the cells to read again, from 1; 0 for the region. */
  readonly cells: readonly number[]

  constructor(cells: readonly number[]) {
    super('other shares')
    this.cells = cells
  }
}

/**
 * Decides groups by the shares that a region holds, which the server does only if the shares are those that this process knows. If they are
 * not, it reads them and sends the groups again.
 * @param decide throws StaleShares
 */
export function decideByShares<Options extends CallOptions>(
  store: string,
  decide: (groups: readonly CallGroup[], used: SharesUsed, options: Options) => Promise<readonly GroupVerdict[]>,
): (groups: readonly CallGroup[], options: Options) => Promise<readonly GroupVerdict[]> {
  const decideAll = async (first: KnownShares, groups: readonly CallGroup[], options: Options): Promise<readonly GroupVerdict[]> => {
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      if (first.view === undefined) await first.refresh(options)
      const { view } = first
      if (view === undefined) continue
      const { own, cells, varies } = groupsByShare(groups)
      // A key whose limit changes within the list is adopted twice: no call could find it as both groups need it.
      if (groups.length > 1 && varies) {
        const runs = runsOf(groups)
        if (runs.length > 1) return inOrder(runs, (run) => decideAll(first, run, options))
      }
      try {
        return await decide(own, { view, cells }, options)
      } catch (error) {
        if (!(error instanceof StaleShares)) throw error
        if (error.cells.includes(0)) await first.refresh(options)
        else await Promise.all(error.cells.map((cell) => settle(cells[cell - 1], options)))
      }
    }
    throw new StoreFailure('contention', 'no', `${store}: the shares of the region keep changing`)
  }
  return async (groups, options) => {
    const first = firstShares(groups)
    if (first === undefined) throw new Error('no shares')
    return decideAll(first, groups, options)
  }
}

/** Splits a list, in order, before each group that names a key under another limit than its run so far: these need calls of their own. */
function runsOf(groups: readonly CallGroup[]): readonly (readonly CallGroup[])[] {
  let run: CallGroup[] = []
  const runs = [run]
  /** What a call of the run decides each key by: its shares, or a limit without any. */
  const found = new Map<string, KnownShares | AnyLimit>()
  for (const group of groups) {
    const named = group.calls.map(({ id, limit }) => ({ name: stateName(id), by: sharesOf(limit) ?? limit }))
    if (named.some(({ name, by }) => (found.get(name) ?? by) !== by)) {
      run = []
      runs.push(run)
      found.clear()
    }
    run.push(group)
    for (const { name, by } of named) found.set(name, by)
  }
  return runs
}

/**
 * Decides runs one after the other. Only if the first fails does the whole call fail: after that, groups were charged, and a call that fails
 * as a whole may be sent again as a whole. Then the groups of the run that failed have its failure, and those of later ones are not sent.
 */
async function inOrder(
  runs: readonly (readonly CallGroup[])[],
  decide: (run: readonly CallGroup[]) => Promise<readonly GroupVerdict[]>,
): Promise<readonly GroupVerdict[]> {
  const verdicts: GroupVerdict[] = []
  for (const [index, run] of runs.entries()) {
    try {
      verdicts.push(...(await decide(run)))
    } catch (error) {
      if (index === 0) throw error
      const failed = failedBy(error)
      const { kind, message, cause } = failed.failure
      const unsent = { failure: new StoreFailure(kind, 'no', message, { cause }) }
      const later = runs.slice(index + 1).flat()
      return [...verdicts, ...run.map(() => failed), ...later.map(() => unsent)]
    }
  }
  return verdicts
}

function firstShares(groups: readonly CallGroup[]): KnownShares | undefined {
  for (const { calls } of groups) {
    for (const { limit } of calls) {
      const shares = sharesOf(limit)
      if (shares !== undefined) return shares
    }
  }
  return undefined
}

/** A store that does not decide by shares. */
export function withoutShares(store: Store): Store {
  return {
    ...store,
    decide: async (groups, options) => {
      if (!groups.some(({ calls }) => hasShares(calls))) return store.decide(groups, options)
      throw new StoreFailure(
        'unavailable',
        'no',
        `${store.name}: an algorithm without a program cannot be in a group with a share of a region`,
      )
    },
  }
}

async function settle(cell: ShareCell | undefined, options: CallOptions): Promise<void> {
  await cell?.shares.settle(cell.id, options)
}

interface ByShare {
  /** The groups with the shares in place of the limits. */
  readonly own: readonly CallGroup[]
  readonly cells: readonly ShareCell[]
  /** Whether a key may be named under several limits: by several shares, or because limits of token buckets have no shares. */
  readonly varies: boolean
}

/** Finds the shares of the calls of groups, and lists the cells of which they are. */
function groupsByShare(groups: readonly CallGroup[]): ByShare {
  const cells: ShareCell[] = []
  let found: Map<string, ShareCell> | undefined
  let last: ShareCell | undefined
  let varies = false
  const cellOf = ({ id }: Call, shares: KnownShares): ShareCell => {
    const name = stateName(id)
    // A list with one key needs no map.
    if (last !== undefined) found ??= new Map([[last.name, last]])
    const known = found?.get(name)
    if (known?.shares === shares) return known
    varies ||= known !== undefined
    const cell = { id, name, shares, known: shares.shareOf(id, name) }
    cells.push(cell)
    found?.set(name, cell)
    return cell
  }
  const byShare = (call: Call): Call => {
    const { id, cost, phase } = call
    const shares = sharesOf(call.limit)
    if (shares === undefined) {
      // Only a bucket can have shares under another limit: states of other algorithms have other names.
      varies ||= call.limit.algorithm.tag === 'tb'
      return call
    }
    // On a busy key most calls are of the key of the call before.
    if (last === undefined || last.id.key !== id.key || last.id.scope !== id.scope || last.shares !== shares) last = cellOf(call, shares)
    const { limit, holds } = last.known
    return holds ? { id, limit, cost, phase } : nothing(call, limit)
  }
  const own = groups.map(({ calls, options }) => ({
    calls: calls.length === 1 ? [byShare(calls[0] as Call)] : calls.map(byShare),
    ...(options === undefined ? {} : { options }),
  }))
  return { own, cells, varies }
}

/** Before the name of a state that is never written. */
export const NOTHING = 'none:'

/**
 * The call in place of one whose key has no units in this region. It never passes, because it costs twice the burst, and its scope is its
 * own, so that no state of the key is written.
 */
function nothing({ id, phase }: Call, limit: AnyLimit): Call {
  const scope = { text: NOTHING + id.scope.text }
  return { id: { scope, key: id.key }, limit, cost: 2 * (limit.plan as BucketPlan).burst, phase }
}
