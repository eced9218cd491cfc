import { CLOCK, OBSERVERS, requireForm, STORE } from '../errors/options.ts'
import { notifyStoreCall, type Observer, type StoreEvent } from '../observe/events.ts'
import { systemTime } from '../time/system.ts'
import type { Time } from '../time/time.ts'
import { type Store, StoreFailure } from './store.ts'

/**
 * Reports to observers how long each call of the store took and how it failed: the call's failure, or that of the first group or change
 * that failed. `decideNow` is reported only if the store is synchronous, because otherwise it calls nothing. Bound G is that of the store.
 * @throws LimiterError INVALID_OPTIONS
 */
export function withObservers(store: Store, observers: readonly Observer[], clock: Time = systemTime): Store {
  requireForm('withObservers', 'store', store, STORE)
  requireForm('withObservers', 'observers', observers, OBSERVERS)
  requireForm('withObservers', 'clock', clock, CLOCK)
  const { name, capabilities } = store
  const listening = observers.filter(({ onStoreCall }) => onStoreCall !== undefined)
  const report = (operation: StoreEvent['operation'], started: number, failure: StoreFailure | undefined): void => {
    const durationMs = clock.monotonic() - started
    notifyStoreCall(listening, { store: name, operation, durationMs, ...(failure === undefined ? {} : { failure: failure.kind }) })
  }
  const timed = async <Answer>(operation: StoreEvent['operation'], call: () => Promise<Answer>): Promise<Answer> => {
    const started = clock.monotonic()
    try {
      const answer = await call()
      report(operation, started, failureIn(answer))
      return answer
    } catch (error) {
      report(operation, started, error instanceof StoreFailure ? error : undefined)
      throw error
    }
  }
  const decideNow = store.decideNow?.bind(store)
  const lease = store.lease?.bind(store)
  return {
    name,
    capabilities,
    decide: (groups, options) => timed(options?.charge === false ? 'peek' : 'decide', () => store.decide(groups, options)),
    ...(decideNow === undefined
      ? {}
      : {
          decideNow(group, now) {
            if (!capabilities.sync) return decideNow(group, now)
            const started = clock.monotonic()
            const verdict = decideNow(group, now)
            report('decide', started, verdict?.failure)
            return verdict
          },
        }),
    change: (changes, options) => timed('change', () => store.change(changes, options)),
    ...(lease === undefined ? {} : { lease: (requests, options) => timed('lease', () => lease(requests, options)) }),
    ...(store.laneOf === undefined ? {} : { laneOf: store.laneOf.bind(store) }),
    ready: (options) => timed('ready', () => store.ready(options)),
    close: () => store.close(),
  }
}

/** The first failure among the verdicts or results of a call. */
function failureIn(answer: unknown): StoreFailure | undefined {
  if (!Array.isArray(answer)) return undefined
  return (answer as readonly { readonly failure?: StoreFailure }[]).find(({ failure }) => failure !== undefined)?.failure
}
