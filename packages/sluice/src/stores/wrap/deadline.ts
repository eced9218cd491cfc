import { CLOCK, MILLISECONDS, requireForm, STORE } from '../../errors/options.ts'
import { systemTime } from '../../time/system.ts'
import type { Time } from '../../time/time.ts'
import type { Store } from '../store.ts'
import { eachCall } from './each-call.ts'

/**
 * Gives every call that goes to a server a deadline of `ms` milliseconds, or its own if that is nearer; `ready` keeps its own. The store itself settles by it.
 * Bound G: that of the store.
 * @throws LimiterError INVALID_OPTIONS when `ms` is not above 0 and at most 60,000
 */
export function withDeadline(store: Store, ms: number, clock: Time = systemTime): Store {
  requireForm('withDeadline', 'store', store, STORE)
  requireForm('withDeadline', 'ms', ms, MILLISECONDS)
  requireForm('withDeadline', 'clock', clock, CLOCK)
  return eachCall(store, (operation, options, send) => {
    // Whoever waits for a store says how long.
    if (operation === 'ready' && options?.deadline !== undefined) return send(options)
    const deadline = clock.monotonic() + ms
    return send({ ...options, deadline: Math.min(deadline, options?.deadline ?? deadline) } as NonNullable<typeof options>)
  })
}
