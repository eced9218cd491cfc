import type { AnyLimit } from '../algorithms/algorithm.ts'
import { MICRO } from '../algorithms/decimal.ts'
import { shareOf } from '../algorithms/share.ts'
import { COUNT, type Form, requireForm, STORE } from '../errors/options.ts'
import { type Call, type Change, type Failed, type GroupVerdict, nameOf, type Store, StoreFailure } from './store.ts'

const NODES: Form = [(value) => typeof value === 'function' || COUNT[0](value), `${COUNT[1]}, or a function`]

/** A store that grants its part of each limit. */
export interface DividedStore extends Store {
  /** Among how many processes limits are divided now; NaN if that is not a whole number above 0. */
  readonly nodes: number
}

/**
 * A store that grants an equal part of each limit: the local fallback of one of so many processes, which together keep the limit. A group
 * fails with `unavailable`, not executed, if the limit could grant it but its part never can, if the part is nothing, or if the count is
 * not a whole number above 0. It is not a used-up quota. Bound G for n processes that divide by `nodes`, over an interval of length T:
 * (n / nodes - 1)+ * (burst + rate * T).
 * @param nodes the number of processes, or a function that counts those alive now; states follow the count (law 7)
 * @throws LimiterError INVALID_OPTIONS
 */
export function withDividedLimit(store: Store, nodes: number | (() => number)): DividedStore {
  requireForm('withDividedLimit', 'store', store, STORE)
  requireForm('withDividedLimit', 'nodes', nodes, NODES)
  const partOf = createParts()
  // Decisions never throw: a function that throws has counted nothing.
  const count = (): number => {
    try {
      const found: unknown = typeof nodes === 'function' ? nodes() : nodes
      return COUNT[0](found) ? (found as number) : Number.NaN
    } catch {
      return Number.NaN
    }
  }
  const divided = (calls: readonly Call[], parts: number): readonly Call[] | undefined => {
    const mine = calls.map((call) => ({ ...call, limit: partOf(call.limit, parts) as AnyLimit }))
    return mine.every(({ limit }) => limit !== undefined) ? mine : undefined
  }
  const failed = (parts: number): Failed => ({
    failure: new StoreFailure('unavailable', 'no', `${store.name}: its part of the limit, divided by ${parts}, can never grant this`),
  })
  const whole = (calls: readonly Call[], verdict: GroupVerdict, parts: number): GroupVerdict =>
    verdict.outcome === 'impossible' && parts > 1 && isPossible(calls) ? failed(parts) : verdict
  const decideNow = store.decideNow?.bind(store)
  return {
    name: store.name,
    capabilities: store.capabilities,
    get nodes() {
      return count()
    },
    async decide(groups, options) {
      const parts = count()
      const mine = groups.map(({ calls }) => divided(calls, parts))
      const decidable = mine.flatMap((calls) => (calls === undefined ? [] : [{ calls }]))
      const verdicts = (await store.decide(decidable, options)).values()
      return groups.map(({ calls }, index) => {
        const { value } = mine[index] === undefined ? { value: undefined } : verdicts.next()
        return value === undefined ? failed(parts) : whole(calls, value, parts)
      })
    },
    ...(decideNow === undefined
      ? {}
      : {
          decideNow({ calls }, now) {
            const parts = count()
            const mine = divided(calls, parts)
            if (mine === undefined) return failed(parts)
            const verdict = decideNow({ calls: mine }, now)
            return verdict === undefined ? undefined : whole(calls, verdict, parts)
          },
        }),
    change(changes, options) {
      const parts = count()
      const mine = changes.map((change): Change => {
        if (change.kind !== 'adjust') return change
        const { call } = change
        return { ...change, call: { ...call, limit: partOf(call.limit, parts) ?? call.limit } }
      })
      return store.change(mine, options)
    },
    ...(store.laneOf === undefined ? {} : { laneOf: store.laneOf.bind(store) }),
    ready: (options) => store.ready(options),
    close: () => store.close(),
  }
}

/** Whether the whole limits could grant the calls; those of one state are decided with their costs added. */
function isPossible(calls: readonly Call[]): boolean {
  const sums = new Map<string, number>()
  return calls.every(({ id, cost, limit }) => {
    const name = nameOf(id)
    const sum = (sums.get(name) ?? 0) + cost
    sums.set(name, sum)
    return sum <= limit.capacity * MICRO
  })
}

/** Parts of limits, made once for each count; undefined if a part is nothing, or the count is NaN. */
function createParts(): (limit: AnyLimit, parts: number) => AnyLimit | undefined {
  const known = new WeakMap<AnyLimit, { readonly parts: number; readonly limit: AnyLimit | undefined }>()
  return (limit, parts) => {
    if (Number.isNaN(parts)) return undefined
    const last = known.get(limit)
    if (last?.parts === parts) return last.limit
    const made = { parts, limit: shareOf(limit, parts) }
    known.set(limit, made)
    return made.limit
  }
}
