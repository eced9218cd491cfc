import type { AnyLimit } from '../../algorithms/algorithm.ts'
import { MICRO } from '../../algorithms/decimal.ts'
import { shareOf } from '../../algorithms/share.ts'
import { COUNT, type Form, requireForm, STORE } from '../../errors/options.ts'
import { type Call, type CallGroup, type CallOptions, type GroupVerdict, type Store, StoreFailure } from '../store.ts'

const NODES: Form = [(value) => typeof value === 'function' || COUNT[0](value), `${COUNT[1]}, or a function`]

/**
 * A store that grants an equal part of each limit: the stand-in of `withFallback` for one of so many processes, which together keep the limit. Every verdict tells the
 * count (`nodes`). What the part can never grant though the limit can, and everything where the count is no whole number above 0 or leaves nothing, is
 * undecided and refused: it is no used-up quota. So is everything where the function throws. Bound G for n processes that take themselves for `nodes`, over an interval of length T: (n / nodes - 1)+ * (burst + rate * T).
 * @param nodes how many there are: a number, or what counts those alive now; a state follows the count (law 7)
 * @throws LimiterError INVALID_OPTIONS
 */
export function withDividedLimit(store: Store, nodes: number | (() => number)): Store {
  requireForm('withDividedLimit', 'store', store, STORE)
  requireForm('withDividedLimit', 'nodes', nodes, NODES)
  // Decisions never throw: what does not count, or throws, is no whole number, and what the docs say of that holds.
  const count = (): number => {
    if (typeof nodes !== 'function') return nodes
    try {
      const found: unknown = nodes()
      return typeof found === 'number' ? found : Number.NaN
    } catch {
      return Number.NaN
    }
  }
  const part = remembering()
  const divided = (calls: readonly Call[], parts: number): readonly Call[] | undefined => {
    if (!(Number.isSafeInteger(parts) && parts > 0)) return undefined
    const mine = calls.map((call) => ({ ...call, limit: part(call.limit, parts) as AnyLimit }))
    return mine.every(({ limit }) => limit !== undefined) ? mine : undefined
  }
  const told = ({ calls }: CallGroup, verdict: GroupVerdict | undefined, parts: number): GroupVerdict => {
    if (verdict !== undefined && (verdict.outcome !== 'impossible' || parts === 1 || !possible(calls))) return { ...verdict, nodes: parts }
    const degraded = new StoreFailure('unavailable', 'no', `${store.name ?? 'store'}: nothing that it could grant of a limit for ${parts}`)
    return { outcome: 'undecided', allowed: false, at: Number.NaN, calls: [], source: 'store', degraded, nodes: parts }
  }
  const asking =
    (verb: 'consume' | 'peek'): Store['consume'] =>
    async (groups, callOptions) => {
      const parts = count()
      const mine = groups.map((group) => divided(group.calls, parts))
      const asked = groups.flatMap((group, index) => (mine[index] === undefined ? [] : [{ ...group, calls: mine[index] }]))
      const verdicts = [...(await store[verb](asked, callOptions))]
      return groups.map((group, index) => told(group, mine[index] === undefined ? undefined : verdicts.shift(), parts))
    }
  const sync: Pick<Store, 'consumeSync'> =
    store.consumeSync === undefined
      ? {}
      : {
          consumeSync(group: CallGroup, callOptions?: CallOptions) {
            const parts = count()
            const calls = divided(group.calls, parts)
            return told(
              group,
              calls === undefined ? undefined : (store as Required<Store>).consumeSync({ ...group, calls }, callOptions),
              parts,
            )
          },
        }
  const adjust = store.adjust?.bind(store)
  return {
    ...(store.name === undefined ? {} : { name: store.name }),
    capabilities: store.capabilities,
    ...(store.slotOf === undefined ? {} : { slotOf: store.slotOf.bind(store) }),
    consume: asking('consume'),
    ...sync,
    peek: asking('peek'),
    ...(adjust === undefined ? {} : { adjust: (calls, amounts, options) => adjust(divided(calls, count()) ?? calls, amounts, options) }),
    ...(store.block === undefined ? {} : { block: store.block.bind(store) }),
    reset: (ids, callOptions) => store.reset(ids, callOptions),
    ready: (callOptions) => store.ready(callOptions),
    close: () => store.close(),
  }
}

/** Whether the whole limits could grant the calls; those of one state are decided with their costs added. */
function possible(calls: readonly Call[]): boolean {
  const sums = new Map<string, number>()
  return calls.every(({ id: { scope, key }, cost, limit }) => {
    const name = `${scope.text} ${key}`
    const sum = (sums.get(name) ?? 0) + cost
    sums.set(name, sum)
    return sum <= limit.capacity * MICRO
  })
}

/** Parts of limits, made once for each count. */
function remembering(): (limit: AnyLimit, parts: number) => AnyLimit | undefined {
  const known = new WeakMap<AnyLimit, { readonly parts: number; readonly limit: AnyLimit | undefined }>()
  return (limit, parts) => {
    const last = known.get(limit)
    if (last?.parts === parts) return last.limit
    const made = { parts, limit: shareOf(limit, parts) }
    known.set(limit, made)
    return made.limit
  }
}
