import type { AnyLimit } from '../algorithms/algorithm.ts'
import { MICRO } from '../algorithms/decimal.ts'
import {
  type Call,
  type CallGroup,
  type Change,
  type DecideOptions,
  type Decided,
  type GroupVerdict,
  isOfHold,
  nameOf,
  type Store,
} from './store.ts'

/** The parts of limits that a store grants. */
export interface Shares {
  /** Undefined if the store cannot grant the part, or if the part is 0. */
  of(call: Call): AnyLimit | undefined
  /** The verdict if `of` returns undefined for a call. */
  none(group: CallGroup): GroupVerdict
  /** The verdict for a group with a cost above what the part of its limit can ever hold. */
  beyond(group: CallGroup, verdict: Decided): GroupVerdict
}

type Sharing = Pick<Store, 'decide' | 'decideNow' | 'change' | 'laneOf' | 'ready' | 'close'>

/** @param sharesNow called once for each call of the store */
export function sharing(store: Store, sharesNow: () => Shares): Sharing {
  const decideNow = store.decideNow?.bind(store)
  const decideAll = async (shares: Shares, groups: readonly CallGroup[], options: DecideOptions | undefined): Promise<GroupVerdict[]> => {
    const mine = groups.map((group) => divided(shares, group))
    const decidable = mine.filter((group) => group !== undefined)
    const verdicts = (await store.decide(decidable, options)).values()
    return groups.map((group, index) => {
      const { value } = mine[index] === undefined ? { value: undefined } : verdicts.next()
      return value === undefined ? shares.none(group) : whole(shares, group, value)
    })
  }
  return {
    decide(groups, options) {
      const shares = sharesNow()
      const [only] = groups
      if (groups.length !== 1 || only === undefined) return decideAll(shares, groups, options)
      // For one group, the store's list of verdicts is not copied.
      const mine = divided(shares, only)
      if (mine === undefined) return Promise.resolve([shares.none(only)])
      return store.decide([mine], options).then((verdicts) => {
        const [verdict] = verdicts
        if (verdict === undefined) return [shares.none(only)]
        return verdict.outcome === 'impossible' ? [shares.beyond(only, verdict)] : verdicts
      })
    },
    ...(decideNow === undefined ? {} : { decideNow: decidingNow(decideNow, sharesNow) }),
    change(changes, options) {
      const shares = sharesNow()
      const own = (call: Call): Call => ({ ...call, limit: shares.of(call) ?? call.limit })
      const mine = changes.map((change): Change => {
        if (isOfHold(change)) return { ...change, calls: change.calls.map(own) }
        return 'call' in change ? { ...change, call: own(change.call) } : change
      })
      return store.change(mine, options)
    },
    ...(store.laneOf === undefined ? {} : { laneOf: store.laneOf.bind(store) }),
    ready: (options) => store.ready(options),
    close: () => store.close(),
  }
}

/** Undefined if the store cannot grant one of the parts. */
function divided(shares: Shares, group: CallGroup): CallGroup | undefined {
  const [only] = group.calls
  if (group.calls.length === 1 && only !== undefined) {
    const limit = shares.of(only)
    if (limit === undefined) return undefined
    const own = [{ id: only.id, limit, cost: only.cost, phase: only.phase }]
    return group.options === undefined ? { calls: own } : { calls: own, options: group.options }
  }
  const calls: Call[] = []
  for (const call of group.calls) {
    const limit = shares.of(call)
    if (limit === undefined) return undefined
    calls.push({ id: call.id, limit, cost: call.cost, phase: call.phase })
  }
  return group.options === undefined ? { calls } : { calls, options: group.options }
}

function whole(shares: Shares, group: CallGroup, verdict: GroupVerdict): GroupVerdict {
  return verdict.outcome === 'impossible' ? shares.beyond(group, verdict) : verdict
}

function decidingNow(decideNow: DecideNow, sharesNow: () => Shares): DecideNow {
  // The wrapped store keeps no reference to the group, so one object serves all calls.
  const only: Mutable<Call>[] = [{ id: { scope: { text: '' }, key: '' }, limit: undefined as unknown as AnyLimit, cost: 0, phase: 0 }]
  const single = { calls: only as readonly Call[] }
  return (group, now) => {
    const shares = sharesNow()
    const { calls } = group
    if (calls.length > 1 || group.options !== undefined) {
      const mine = divided(shares, group)
      if (mine === undefined) return shares.none(group)
      const verdict = decideNow(mine, now)
      return verdict === undefined ? undefined : whole(shares, group, verdict)
    }
    const call = calls[0] as Call
    const limit = shares.of(call)
    if (limit === undefined) return shares.none(group)
    const own = only[0] as Mutable<Call>
    own.id = call.id
    own.limit = limit
    own.cost = call.cost
    own.phase = call.phase
    const verdict = decideNow(single, now)
    return verdict?.outcome === 'impossible' ? shares.beyond(group, verdict) : verdict
  }
}

type DecideNow = NonNullable<Store['decideNow']>

type Mutable<T> = { -readonly [Name in keyof T]: T[Name] }

/** Whether the undivided limits could ever grant the calls. Costs of one state add up, because they are charged together. */
export function isPossible(calls: readonly Call[]): boolean {
  const sums = new Map<string, number>()
  return calls.every(({ id, cost, limit }) => {
    const name = nameOf(id)
    const sum = (sums.get(name) ?? 0) + cost
    sums.set(name, sum)
    return sum <= limit.capacity * MICRO
  })
}
