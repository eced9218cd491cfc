import { CLOCK, OBSERVERS, requireForm, STORE } from '../../errors/options.ts'
import { notifyStoreCall, type Observer, type StoreEvent } from '../../observe/events.ts'
import { systemTime } from '../../time/system.ts'
import type { Time } from '../../time/time.ts'
import { type Store, StoreFailure } from '../store.ts'
import { eachCall } from './each-call.ts'

/**
 * Tells observers how long each call of the store took and how it failed, but for what a store says without being asked (`consumeHere`). It changes nothing: bound G is that of the store.
 * @throws LimiterError INVALID_OPTIONS
 */
export function withObservers(store: Store, observers: readonly Observer[], clock: Time = systemTime): Store {
  requireForm('withObservers', 'store', store, STORE)
  requireForm('withObservers', 'observers', observers, OBSERVERS)
  requireForm('withObservers', 'clock', clock, CLOCK)
  const listening = observers.filter(({ onStoreCall }) => onStoreCall !== undefined)
  const name = store.name ?? 'store'
  const tell = (operation: StoreEvent['operation'], started: number, error?: unknown): void => {
    const durationMs = clock.monotonic() - started
    notifyStoreCall(listening, { store: name, operation, durationMs, ...(error instanceof StoreFailure ? { failure: error.kind } : {}) })
  }
  const timed = eachCall(store, async (operation, options, send) => {
    const started = clock.monotonic()
    try {
      const answer = await send(options)
      tell(operation, started)
      return answer
    } catch (error) {
      tell(operation, started, error)
      throw error
    }
  })
  const consumeSync = store.consumeSync?.bind(store)
  if (consumeSync === undefined) return timed
  return {
    ...timed,
    consumeSync(group, options) {
      const started = clock.monotonic()
      const verdict = consumeSync(group, options)
      tell('consume', started)
      return verdict
    },
  }
}
