import { stateName } from '../keys/encode.ts'
import type { AnyLimit } from '../algorithms/algorithm.ts'
import type { BucketPlan } from '../algorithms/bucket-plan.ts'
import { isRecord } from '../algorithms/hold-record.ts'
import { type KnownShare, type KnownShares, hasShares, sharesOf } from './region-port.ts'
import { nothingOf, recordIn } from './share-names.ts'
import {
  type Call,
  type CallGroup,
  type CallOptions,
  failedBy,
  isOfHold,
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

/** How often a call is sent again because what the process knew of the shares was out of date. */
export const MAX_ROUNDS = 16

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
      const view = await refreshed(first, options)
      if (view === undefined) continue
      const { own, cells, varies } = groupsByShare(groups, view.run)
      // A key whose limit changes within the list is adopted twice: no call could find it as both groups need it.
      if (groups.length > 1 && varies) {
        const runs = runsOf(groups)
        if (runs.length > 1) return inOrder(runs, (run) => decideAll(first, run, options))
      }
      try {
        return await decide(own, { view, cells }, options)
      } catch (error) {
        if (!(error instanceof StaleShares)) throw error
        await readAgain(error, first, cells, options)
      }
    }
    throw changing(store)
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
      throw noProgram(store.name)
    },
    change: async (changes, options) => {
      if (!changes.some((change) => isOfHold(change) && hasShares(change.calls))) return store.change(changes, options)
      throw noProgram(store.name)
    },
  }
}

/** The failure of a group or a hold that no program decides, or changes, together with a share. */
export function noProgram(store: string): StoreFailure {
  return new StoreFailure('unavailable', 'no', `${store}: an algorithm without a program cannot be in a group with a share of a region`)
}

/** What the process knows of the shares; undefined if it cannot be read now. */
export async function refreshed(shares: KnownShares, options: CallOptions | undefined): Promise<KnownShares['view']> {
  if (shares.view === undefined) await shares.refresh(options)
  return shares.view
}

/** Reads what was out of date. */
export async function readAgain(
  stale: StaleShares,
  shares: KnownShares,
  cells: readonly ShareCell[],
  options: CallOptions | undefined,
): Promise<void> {
  if (stale.cells.includes(0)) await shares.refresh(options)
  else await Promise.all(stale.cells.map((cell) => settle(cells[cell - 1], options)))
}

/** The failure of a call that found other shares each time it was sent. */
export function changing(store: string): StoreFailure {
  return new StoreFailure('contention', 'no', `${store}: the shares of the region keep changing`)
}

async function settle(cell: ShareCell | undefined, options: CallOptions | undefined): Promise<void> {
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
function groupsByShare(groups: readonly CallGroup[], run: string): ByShare {
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
  const byShare = (call: Call, calls: readonly Call[]): Call => {
    const { id, cost, phase } = call
    if (isRecord(call.limit)) return ofShares(calls, id.key) ? { ...call, id: recordIn(run, id) } : call
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
    calls: calls.length === 1 ? [byShare(calls[0] as Call, calls)] : calls.map((call) => byShare(call, calls)),
    ...(options === undefined ? {} : { options }),
  }))
  return { own, cells, varies }
}

/** Whether a hold of a key charges a share. */
function ofShares(calls: readonly Call[], key: string): boolean {
  return calls.some(({ id, limit }) => id.key === key && sharesOf(limit) !== undefined)
}

/**
 * The call in place of one whose key has no units in this region. It never passes, because it costs twice the burst, and its scope is its
 * own, so that no state of the key is written.
 */
function nothing({ id, phase }: Call, limit: AnyLimit): Call {
  const scope = { text: nothingOf(id.scope.text) }
  return { id: { scope, key: id.key }, limit, cost: 2 * (limit.plan as BucketPlan).burst, phase }
}
