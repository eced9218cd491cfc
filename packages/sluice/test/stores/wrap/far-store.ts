import { createRemoteCalls } from '../../../src/stores/remote-calls.ts'
import type { CallOptions, Store } from '../../../src/stores/store.ts'
import { systemTime } from '../../../src/time/system.ts'
import type { Time } from '../../../src/time/time.ts'

/** A store in this process as if a wire lay before it: never at once, by deadline and signal, and on its own clock. */
export function farStore(store: Store, clock: Time = systemTime): Store {
  const calls = createRemoteCalls('far', clock, { maxInFlight: 10_000 })
  const far = <T>(options: CallOptions | undefined, send: () => Promise<T>): Promise<T> =>
    calls.run(send, options, (error) => {
      throw error
    })
  const { consumeSync: _, ...rest } = store
  const { adjust, block } = store
  return {
    ...rest,
    capabilities: { ...store.capabilities, clock: 'server', sync: false },
    consume: (groups, options) => far(options, () => store.consume(groups, options)),
    peek: (groups, options) => far(options, () => store.peek(groups, options)),
    ...(adjust === undefined ? {} : { adjust: (asked, amounts, options) => far(options, () => adjust(asked, amounts, options)) }),
    ...(block === undefined ? {} : { block: (ids, duration, options) => far(options, () => block(ids, duration, options)) }),
    reset: (ids, options) => far(options, () => store.reset(ids, options)),
  }
}
