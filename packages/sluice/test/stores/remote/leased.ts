import { MICRO } from '../../../src/algorithms/decimal.ts'
import { LeaseCache, type LeaseCacheOptions } from '../../../src/stores/remote/lease-cache.ts'
import { changedState, type DecideOptions, type Store } from '../../../src/stores/store.ts'
import { systemTime } from '../../../src/time/system.ts'

export interface LeasedStore extends Store {
  /** Tokens leased now, over all keys. */
  readonly leasedTokens: number
}

/** Nobody waits so long in a test. */
const LONG_MS = 60_000

/** A store with a lease cache around it. The other parts of the ring are absent. */
export function leased(store: Store & Required<Pick<Store, 'lease'>>, options: Partial<LeaseCacheOptions> = {}): LeasedStore {
  const { clock = systemTime } = options
  const defaults = { name: store.name, clock, random: () => 0.5, lifeMs: 1_000, share: 0.25, afterCalls: 16, maxKeys: 10_000 }
  const cache = new LeaseCache({ ...defaults, lease: store.lease.bind(store), ...options })
  const timed = (given: DecideOptions) => ({ ...given, deadline: given.deadline ?? clock.monotonic() + LONG_MS })
  return {
    ...store,
    get leasedTokens() {
      return cache.leasedTokens / MICRO
    },
    decideNow: (group, now) => (now === undefined ? cache.decideNow(group, clock.monotonic()) : undefined),
    async decide(groups, given = {}) {
      if (given.now !== undefined) return store.decide(groups, given)
      if (given.charge !== false) return cache.decide(groups, timed(given), (rest) => store.decide(rest, given))
      await cache.giveBack(
        groups.flatMap(({ calls }) => calls.map(({ id }) => id)),
        given,
      )
      return store.decide(groups, given)
    },
    async change(changes, given = {}) {
      if (given.now === undefined) await cache.giveBack(changes.map(changedState), given)
      return store.change(changes, given)
    },
    async close() {
      await cache.close({ deadline: clock.monotonic() + 1_000 })
      await store.close()
    },
  }
}
