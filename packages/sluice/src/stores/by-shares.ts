import { stateName } from '../keys/encode.ts'
import type { AnyLimit } from '../algorithms/algorithm.ts'
import type { BucketPlan } from '../algorithms/bucket-plan.ts'
import { isRecord } from '../algorithms/hold-record.ts'
import type { Micros } from '../time/micros.ts'
import { type KnownShare, type KnownShares, hasShares, sharesOf } from './region-port.ts'
import { nothingOf, recordIn } from './share-names.ts'
import { inOrder, runsOf } from './share-runs.ts'
import {
  type Call,
  type CallGroup,
  type CallOptions,
  isOfHold,
  type GroupVerdict,
  type Scope,
  type StateId,
  type Store,
  StoreFailure,
} from './store.ts'

/** A call that is decided by a region's share (its part of rate and burst). */
export interface ShareCall extends Call {
  /** Names the key's state, as `id` does. But if the region has no share of the key, `id` names a state that is never written. */
  readonly cell: StateId
  readonly shares: KnownShares
  readonly known: KnownShare
}

export interface SharesUsed {
  readonly view: NonNullable<KnownShares['view']>
  /** Calls of a state that an earlier call of the batch names under another limit. */
  readonly others: readonly ShareCall[]
}

/** Undefined if the call is not decided by a share. */
export function shareCall(call: Call): ShareCall | undefined {
  return (call as Partial<ShareCall>).known === undefined ? undefined : (call as ShareCall)
}

/** The first call of each state, then `others`. */
export function comparedCalls(states: readonly { readonly first: Call }[], { others }: SharesUsed): readonly ShareCall[] {
  return [...states.flatMap(({ first }) => shareCall(first) ?? []), ...others]
}

export interface AlikeCells {
  readonly settled: Micros
  readonly haveRows: boolean
}

/** Undefined unless equal shares above 0 decide all states. */
export function alikeCells(states: readonly { readonly first: Call }[], { others }: SharesUsed): AlikeCells | undefined {
  const known = states[0] && shareCall(states[0].first)?.known
  if (known?.holds !== true || others.length > 0) return undefined
  let haveRows = false
  for (const { first } of states) {
    const other = shareCall(first)?.known
    if (other !== known && (other === undefined || !isAlike(known, other))) return undefined
    haveRows ||= other.change > 0
  }
  return { settled: known.settled, haveRows }
}

export function isAlike(one: KnownShare, other: KnownShare): boolean {
  return other.limit === one.limit && other.settled === one.settled && other.holds === one.holds
}

/** The most times that a call is sent while the region's shares keep changing. */
export const MAX_ROUNDS = 16

/** The server has other shares (the region's parts of limits) than this process knows. Nothing was charged. */
export class StaleShares extends Error {
  /** The calls whose keys must be read again; undefined for the region's record. */
  readonly cells: readonly (ShareCall | undefined)[]

  /** @param numbers positions in the list that `compared` returns, from 1; 0 for the region's record */
  constructor(numbers: readonly number[], compared: () => readonly ShareCall[]) {
    super('other shares')
    const calls = numbers.includes(0) ? [] : compared()
    this.cells = numbers.map((number) => calls[number - 1])
  }
}

/**
 * Groups are decided by the region's shares (its parts of buckets) that this process knows. If they have changed on the server, nothing is
 * charged, and the process reads them and sends the groups again.
 * @param decide throws StaleShares if the server has other shares
 */
export function decideByShares<Options extends CallOptions>(
  store: string,
  decide: (groups: readonly CallGroup[], used: SharesUsed, options: Options) => Promise<readonly GroupVerdict[]>,
): (groups: readonly CallGroup[], options: Options) => Promise<readonly GroupVerdict[]> {
  const decideAll = async (first: KnownShares, groups: readonly CallGroup[], options: Options): Promise<readonly GroupVerdict[]> => {
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const view = await refreshed(first, options)
      if (view === undefined) continue
      const { own, others, varies } = groupsByShare(groups, view.run)
      // One call to the server cannot convert a key's state for several limits, so groups with different limits are sent one after another.
      if (groups.length > 1 && varies) {
        const runs = runsOf(groups)
        if (runs.length > 1) return inOrder(runs, (run) => decideAll(first, run, options))
      }
      try {
        return await decide(own, { view, others }, options)
      } catch (error) {
        if (!(error instanceof StaleShares)) throw error
        await readAgain(error, first, options)
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

function firstShares(groups: readonly CallGroup[]): KnownShares | undefined {
  for (const { calls } of groups) {
    for (const { limit } of calls) {
      const shares = sharesOf(limit)
      if (shares !== undefined) return shares
    }
  }
  return undefined
}

/** Calls with shares fail, because the store cannot decide by shares. */
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

function noProgram(store: string): StoreFailure {
  return new StoreFailure('unavailable', 'no', `${store}: an algorithm without a program cannot be in a group with a share of a region`)
}

/** Undefined if nothing is known and nothing can be read now. */
export async function refreshed(shares: KnownShares, options: CallOptions | undefined): Promise<KnownShares['view']> {
  if (shares.view === undefined) await shares.refresh(options)
  return shares.view
}

export async function readAgain({ cells }: StaleShares, shares: KnownShares, options: CallOptions | undefined): Promise<void> {
  if (cells.includes(undefined)) await shares.refresh(options)
  else await Promise.all(cells.map(async (call) => call?.shares.settle(call.cell, options)))
}

export function changing(store: string): StoreFailure {
  return new StoreFailure('contention', 'no', `${store}: the shares of the region keep changing`)
}

interface ByShare extends Pick<SharesUsed, 'others'> {
  /** With shares in place of the limits. */
  readonly own: readonly CallGroup[]
  /** Whether the groups may name one key under several limits. */
  readonly varies: boolean
}

/**
 * Replaces each limit that is divided among regions by this region's share. Equal groups in a row, as most are on a busy key, become one
 * object.
 */
function groupsByShare(groups: readonly CallGroup[], run: string): ByShare {
  const limits = createLimits()
  let last: ShareCall | undefined
  const byShare = (call: Call, calls: readonly Call[]): Call => {
    const { id, limit, cost, phase } = call
    if (isRecord(limit)) return ofShares(calls, id.key) ? { ...call, id: recordIn(run, id) } : call
    const shares = sharesOf(limit)
    if (shares === undefined) {
      // Only a scope of token buckets may also have a limit with shares: regions divide no other algorithm.
      if (limit.algorithm.tag === 'tb') limits.note(id.scope, limit)
      return call
    }
    const isLast = last !== undefined && last.shares === shares && last.cell.key === id.key && last.cell.scope === id.scope
    if (isLast && last?.phase === phase && (last.cost === cost || !last.known.holds)) return last
    if (!isLast) limits.note(id.scope, shares)
    const known = isLast ? (last as ShareCall).known : shares.shareOf(id)
    last = known.holds ? { id, limit: known.limit, cost, phase, cell: id, shares, known } : nothing(call, shares, known)
    return last
  }
  let before: CallGroup | undefined
  const own = groups.map(({ calls, options }): CallGroup => {
    if (calls.length > 1 || options !== undefined) {
      const mine = calls.map((call) => byShare(call, calls))
      return options === undefined ? { calls: mine } : { calls: mine, options }
    }
    const [first] = calls
    if (first === undefined) return { calls }
    const mine = byShare(first, calls)
    if (before === undefined || before.calls[0] !== mine) before = { calls: [mine] }
    return before
  })
  return { own, varies: limits.vary, others: limits.vary ? othersAmong(own) : [] }
}

/** Notes the limit of each scope: its shares if the limit is divided among regions, otherwise the limit. */
function createLimits() {
  let scopes: Map<string, KnownShares | AnyLimit> | undefined
  let [lastScope, lastBy]: [Scope | undefined, KnownShares | AnyLimit | undefined] = [undefined, undefined]
  const limits = {
    /** Whether a scope has several limits. */
    vary: false,
    note(scope: Scope, by: KnownShares | AnyLimit): void {
      if (scope === lastScope && by === lastBy) return
      if (lastScope !== undefined) {
        scopes ??= new Map([[lastScope.text, lastBy as KnownShares | AnyLimit]])
        const known = scopes.get(scope.text)
        limits.vary ||= known !== undefined && known !== by
        scopes.set(scope.text, by)
      }
      ;[lastScope, lastBy] = [scope, by]
    },
  }
  return limits
}

function othersAmong(groups: readonly CallGroup[]): readonly ShareCall[] {
  const firsts = new Map<string, KnownShares>()
  return groups.flatMap(({ calls }) =>
    calls.flatMap((call) => {
      const own = shareCall(call)
      if (own === undefined) return []
      const name = stateName(own.cell)
      const first = firsts.get(name) ?? own.shares
      firsts.set(name, first)
      return first === own.shares ? [] : own
    }),
  )
}

function ofShares(calls: readonly Call[], key: string): boolean {
  return calls.some(({ id, limit }) => id.key === key && sharesOf(limit) !== undefined)
}

/** A call of a key of which the region has no share. It never passes, because it costs twice the burst, and its state is never written. */
function nothing({ id, phase }: Call, shares: KnownShares, known: KnownShare): ShareCall {
  const { limit } = known
  const scope = { text: nothingOf(id.scope.text) }
  return { id: { scope, key: id.key }, limit, cost: 2 * (limit.plan as BucketPlan).burst, phase, cell: id, shares, known }
}
