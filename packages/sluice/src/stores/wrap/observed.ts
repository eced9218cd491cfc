import { notifyAsked, type Observer, type StoreEvent } from '../../observe/events.ts'
import { systemTime } from '../../time/system.ts'
import type { Time } from '../../time/time.ts'
import { type Store, StoreFailure } from '../store.ts'

/** Tells observers how long each call of the store took and how it failed. It changes nothing: bound G is that of the store. */
export function withObservers(store: Store, observers: readonly Observer[], clock: Time = systemTime): Store {
  const listening = observers.filter(({ asked }) => asked !== undefined)
  const name = store.name ?? 'store'
  const tell = (operation: StoreEvent['operation'], started: number, error?: unknown): void => {
    const durationMs = clock.monotonic() - started
    notifyAsked(listening, { store: name, operation, durationMs, ...(error instanceof StoreFailure ? { failure: error.kind } : {}) })
  }
  const timed =
    <Rest extends readonly unknown[], Answer>(operation: StoreEvent['operation'], run: (...rest: Rest) => Promise<Answer>) =>
    async (...rest: Rest): Promise<Answer> => {
      const started = clock.monotonic()
      try {
        const answer = await run(...rest)
        tell(operation, started)
        return answer
      } catch (error) {
        tell(operation, started, error)
        throw error
      }
    }
  const consumeSync = store.consumeSync?.bind(store)
  const adjust = store.adjust?.bind(store)
  const lease = store.lease?.bind(store)
  const block = store.block?.bind(store)
  const sync: Pick<Store, 'consumeSync'> =
    consumeSync === undefined
      ? {}
      : {
          consumeSync(group, options) {
            const started = clock.monotonic()
            const verdict = consumeSync(group, options)
            tell('consume', started)
            return verdict
          },
        }
  return {
    ...(store.name === undefined ? {} : { name: store.name }),
    capabilities: store.capabilities,
    ...(store.slotOf === undefined ? {} : { slotOf: store.slotOf.bind(store) }),
    consume: timed('consume', store.consume.bind(store)),
    ...sync,
    peek: timed('peek', store.peek.bind(store)),
    ...(adjust === undefined ? {} : { adjust: timed('adjust', adjust) }),
    ...(block === undefined ? {} : { block: timed('block', block) }),
    ...(lease === undefined ? {} : { lease: timed('lease', lease) }),
    reset: timed('reset', store.reset.bind(store)),
    ready: timed('ready', store.ready.bind(store)),
    close: () => store.close(),
  }
}
