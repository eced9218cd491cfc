import { checkOptions, type Form, oneOf, requireForm, STORE } from '../../errors/options.ts'
import { type CallGroup, type CallOptions, type FailurePolicy, type GroupVerdict, type Store, StoreFailure } from '../store.ts'

export interface FallbackOptions {
  /** For groups that do not name their own; default `deny`. */
  readonly policy?: FailurePolicy
  /** Decides where the policy is `local`. Its states are this process's own: with n processes, n times the limit passes. */
  readonly local: Store
}

const FORMS: Readonly<Record<string, Form>> = {
  policy: oneOf('allow', 'deny', 'local'),
  local: [STORE[0], 'a store in this process, such as memoryStore()'],
}

/**
 * Answers for a store that fails: `allow` lets pass, `deny` refuses, `local` asks a store in this process (one made by `withDividedLimit` grants limit / nodes). Every such
 * answer carries `degraded`; a failure never looks like a used-up quota. A store that has no room and says what becomes of new keys (`onFull`) is not overridden. Bound G while the store is down, over an outage of length T: unbounded (`allow`), 0
 * (`deny`), or for n processes whose local stores grant the limit divided by `nodes` (1 without `withDividedLimit`): n / nodes * (burst + rate * T), less what a full bucket
 * of the store loses meanwhile, (rate * T - burst)+.
 * @throws LimiterError INVALID_OPTIONS
 */
export function withFallback(store: Store, options: FallbackOptions): Store {
  requireForm('withFallback', 'store', store, STORE)
  checkOptions('withFallback', options, FORMS)
  const { policy = 'deny', local } = options
  requireForm('withFallback', 'local', local, FORMS['local'] as Form)
  const stand = async (
    verb: 'consume' | 'peek',
    group: CallGroup,
    callOptions: CallOptions | undefined,
    failure: StoreFailure,
  ): Promise<GroupVerdict> => {
    const chosen = group.onFailure ?? policy
    if (chosen !== 'local' || local === store) return undecided(chosen === 'allow', failure)
    try {
      const [verdict] = await local[verb]([group], callOptions)
      return { ...(verdict as GroupVerdict), source: 'fallback', degraded: failure }
    } catch (error) {
      return undecided(false, failed(error))
    }
  }
  const answering =
    (verb: 'consume' | 'peek'): Store['consume'] =>
    async (groups, callOptions) => {
      try {
        const verdicts = await store[verb](groups, callOptions)
        if (areDecided(verdicts)) return verdicts
        return await Promise.all(
          verdicts.map(async (verdict, index) =>
            isOpen(verdict) ? stand(verb, groups[index] as CallGroup, callOptions, reason(verdict)) : verdict,
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
            return isOpen(verdict) ? undecided((group.onFailure ?? policy) === 'allow', reason(verdict)) : verdict
          },
        }
  return {
    ...(store.name === undefined ? {} : { name: store.name }),
    capabilities: store.capabilities,
    ...(store.slotOf === undefined ? {} : { slotOf: store.slotOf.bind(store) }),
    consume: answering('consume'),
    ...sync,
    ...(store.consumeHere === undefined ? {} : { consumeHere: store.consumeHere.bind(store) }),
    peek: answering('peek'),
    reset: (ids, callOptions) => store.reset(ids, callOptions),
    ...(store.adjust === undefined ? {} : { adjust: store.adjust.bind(store) }),
    ...(store.block === undefined ? {} : { block: store.block.bind(store) }),
    ...(store.lease === undefined ? {} : { lease: store.lease.bind(store) }),
    ready: (callOptions) => store.ready(callOptions),
    close: () => store.close(),
  }
}

function areDecided(verdicts: readonly GroupVerdict[]): boolean {
  for (let index = 0; index < verdicts.length; index += 1) if (isOpen(verdicts[index] as GroupVerdict)) return false
  return true
}

/** Whether the failure policy has to answer: a store without room that says itself what becomes of a new key has answered. */
function isOpen({ outcome, onFull }: GroupVerdict): boolean {
  return outcome === 'undecided' && onFull === undefined
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
