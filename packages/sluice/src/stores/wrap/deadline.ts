import { validDeadline } from '../../errors/options.ts'
import { systemTime } from '../../time/system.ts'
import type { Time } from '../../time/time.ts'
import type { CallOptions, Store } from '../store.ts'

/**
 * Gives every call that goes to a server a deadline of `ms` milliseconds, or its own if that is nearer. The store itself settles by it. Bound G: that
 * of the store.
 * @throws LimiterError INVALID_OPTIONS when `ms` is not above 0 and at most 60,000
 */
export function withDeadline(store: Store, ms: number, clock: Time = systemTime): Store {
  validDeadline('withDeadline', ms)
  const limited = (options?: CallOptions): CallOptions => {
    const deadline = clock.monotonic() + ms
    return { ...options, deadline: Math.min(deadline, options?.deadline ?? deadline) }
  }
  const adjust = store.adjust?.bind(store)
  const block = store.block?.bind(store)
  const lease = store.lease?.bind(store)
  const sync = store.consumeSync === undefined ? {} : { consumeSync: store.consumeSync.bind(store) }
  return {
    ...(store.name === undefined ? {} : { name: store.name }),
    capabilities: store.capabilities,
    ...(store.slotOf === undefined ? {} : { slotOf: store.slotOf.bind(store) }),
    consume: (groups, options) => store.consume(groups, limited(options)),
    ...sync,
    peek: (groups, options) => store.peek(groups, limited(options)),
    reset: (ids, options) => store.reset(ids, limited(options)),
    ...(adjust === undefined ? {} : { adjust: (calls, amounts, options) => adjust(calls, amounts, { ...options, ...limited(options) }) }),
    ...(block === undefined ? {} : { block: (ids, duration, options) => block(ids, duration, limited(options)) }),
    ...(lease === undefined ? {} : { lease: (requests, options) => lease(requests, limited(options)) }),
    ready: (options) => store.ready(limited(options)),
    close: () => store.close(),
  }
}
