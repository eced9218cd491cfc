import type { AnyLimit } from '../../algorithms/algorithm.ts'
import { MICRO } from '../../algorithms/decimal.ts'
import { shareOf } from '../../algorithms/share.ts'
import { LimiterError } from '../../errors/limiter-error.ts'
import { refuseUnknown } from '../../errors/options.ts'
import { type CallGroup, type CallOptions, type FailurePolicy, type GroupVerdict, type Store, StoreFailure } from '../store.ts'

export interface FallbackOptions {
  /** For groups that do not name their own; default `deny`. */
  readonly policy?: FailurePolicy
  /** Decides where the policy is `local`. Its states are this process's own: with n processes, n times the limit passes. */
  readonly local: Store
  /**
   * Among how many processes a limit is divided where `local` decides: each grants its part, so that together they keep the limit. A number, or what
   * counts those alive now; where that is no number above 0, or nothing is left of the part, nothing passes.
   */
  readonly nodes?: number | (() => number)
}

/**
 * Answers for a store that fails: `allow` lets pass, `deny` refuses, `local` asks a store in this process, for the whole limit or for
 * limit / nodes. Every such answer carries `degraded`, and with a part `nodes`, the count that it was divided by; a failure never looks like a used-up quota: what the
 * part can never grant, though the limit can, is undecided and not impossible. Bound G while the store is down, over an outage of length T: unbounded
 * (`allow`), 0 (`deny`), or for n processes that take themselves for `nodes` (1 without a count): n / nodes * (burst + rate * T), less what a full bucket of the store
 * loses meanwhile, (rate * T - burst)+.
 * @throws LimiterError INVALID_OPTIONS
 */
export function withFallback(store: Store, options: FallbackOptions): Store {
  refuseUnknown('withFallback', options, ['policy', 'local', 'nodes'])
  const { policy = 'deny', local, nodes } = options
  if (nodes !== undefined && typeof nodes !== 'function' && !(Number.isSafeInteger(nodes) && nodes > 0))
    throw new LimiterError('INVALID_OPTIONS', `withFallback: nodes is ${String(nodes)}, expected a whole number above 0, or a function`)
  const part = sharing()
  /** What this process may grant of a group, or undefined where that is nothing. */
  const divided = (group: CallGroup, count: number): CallGroup | undefined => {
    const calls = group.calls.map((call) => ({ ...call, limit: part(call.limit, count) as AnyLimit }))
    return calls.every(({ limit }) => limit !== undefined) ? { ...group, calls } : undefined
  }
  const standAside = async (
    verb: 'consume' | 'peek',
    group: CallGroup,
    callOptions: CallOptions | undefined,
    failure: StoreFailure,
  ): Promise<GroupVerdict> => {
    const count = typeof nodes === 'function' ? Math.floor(nodes()) : nodes
    if (count === undefined) {
      const [verdict] = await local[verb]([group], callOptions)
      return { ...(verdict as GroupVerdict), source: 'fallback', degraded: failure }
    }
    const asked = count >= 1 && Number.isSafeInteger(count) ? divided(group, count) : undefined
    const [verdict] = asked === undefined ? [] : await local[verb]([asked], callOptions)
    const possible = group.calls.every(({ cost, limit }) => cost <= limit.capacity * MICRO)
    if (verdict === undefined || (verdict.outcome === 'impossible' && possible)) return { ...undecided(false, failure), nodes: count }
    return { ...verdict, source: 'fallback', degraded: failure, nodes: count }
  }
  const stand = async (
    verb: 'consume' | 'peek',
    group: CallGroup,
    callOptions: CallOptions | undefined,
    failure: StoreFailure,
  ): Promise<GroupVerdict> => {
    const chosen = group.onFailure ?? policy
    if (chosen !== 'local' || local === store) return undecided(chosen === 'allow', failure)
    try {
      return await standAside(verb, group, callOptions, failure)
    } catch (error) {
      return undecided(false, failed(error))
    }
  }
  const answering =
    (verb: 'consume' | 'peek'): Store['consume'] =>
    async (groups, callOptions) => {
      try {
        const verdicts = await store[verb](groups, callOptions)
        if (verdicts.every((verdict) => verdict.outcome !== 'undecided')) return verdicts
        return await Promise.all(
          verdicts.map(async (verdict, index) =>
            verdict.outcome === 'undecided' ? stand(verb, groups[index] as CallGroup, callOptions, reason(verdict)) : verdict,
          ),
        )
      } catch (error) {
        const failure = failed(error)
        return Promise.all(groups.map((group) => stand(verb, group, callOptions, failure)))
      }
    }
  const sync: Pick<Store, 'consumeSync'> =
    store.consumeSync === undefined
      ? {}
      : {
          consumeSync(group, callOptions) {
            const verdict = (store as Required<Store>).consumeSync(group, callOptions)
            // A synchronous store is itself the local one: where it cannot decide there is nothing nearer to ask.
            return verdict.outcome === 'undecided' ? undecided((group.onFailure ?? policy) === 'allow', reason(verdict)) : verdict
          },
        }
  return {
    ...(store.name === undefined ? {} : { name: store.name }),
    capabilities: store.capabilities,
    ...(store.slotOf === undefined ? {} : { slotOf: store.slotOf.bind(store) }),
    consume: answering('consume'),
    ...sync,
    peek: answering('peek'),
    reset: (ids, callOptions) => store.reset(ids, callOptions),
    ...(store.adjust === undefined ? {} : { adjust: store.adjust.bind(store) }),
    ...(store.block === undefined ? {} : { block: store.block.bind(store) }),
    ...(store.lease === undefined ? {} : { lease: store.lease.bind(store) }),
    ready: (callOptions) => store.ready(callOptions),
    close: () => store.close(),
  }
}

/** Parts of limits, made once for each count. */
function sharing(): (limit: AnyLimit, count: number) => AnyLimit | undefined {
  const known = new WeakMap<AnyLimit, { readonly count: number; readonly limit: AnyLimit | undefined }>()
  return (limit, count) => {
    const last = known.get(limit)
    if (last?.count === count) return last.limit
    const made = { count, limit: shareOf(limit, count) }
    known.set(limit, made)
    return made.limit
  }
}

/** Nothing is known of the store's time, so none is invented. */
function undecided(allowed: boolean, failure: StoreFailure): GroupVerdict {
  return { outcome: 'undecided', allowed, at: Number.NaN, calls: [], source: 'fallback', degraded: failure }
}

function failed(error: unknown): StoreFailure {
  if (error instanceof StoreFailure) return error
  throw error
}

function reason(verdict: GroupVerdict): StoreFailure {
  return verdict.degraded ?? new StoreFailure('protocol', 'unknown', 'the store gave no answer and no reason')
}
