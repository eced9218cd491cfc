import { createRemoteCalls } from '../../../src/stores/remote-calls.ts'
import type { CallOptions, Store } from '../../../src/stores/store.ts'
import { systemTime } from '../../../src/time/system.ts'
import type { Time } from '../../../src/time/time.ts'

/**
 * A store in this process that behaves as if over a network. It never answers at once, obeys deadline and signal, and has a clock of its
 * own.
 */
export function farStore(store: Store, clock: Time = systemTime): Store {
  const calls = createRemoteCalls('far', clock, { maxInFlight: 10_000 })
  const far = <T>(options: CallOptions | undefined, send: () => Promise<T>): Promise<T> =>
    calls.run(send, options, (error) => {
      throw error
    })
  const { decideNow: _, ...rest } = store
  return {
    ...rest,
    capabilities: { ...store.capabilities, clock: 'server', sync: false },
    decide: (groups, options) => far(options, () => store.decide(groups, options)),
    change: (changes, options) => far(options, () => store.change(changes, options)),
  }
}
