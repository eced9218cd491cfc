import { LimiterError } from '../../errors/limiter-error.ts'
import { systemTime } from '../../time/system.ts'
import type { Time } from '../../time/time.ts'
import type { CallOptions, Store } from '../store.ts'

/**
 * Gives every call a deadline of `ms` milliseconds, or its own if that is nearer. The store itself settles by it. Bound G: that
 * of the store.
 * @throws LimiterError INVALID_OPTIONS when `ms` is not above 0
 */
export function withDeadline(store: Store, ms: number, clock: Time = systemTime): Store {
  if (!(ms > 0 && ms <= 60_000))
    throw new LimiterError('INVALID_OPTIONS', `withDeadline: ${String(ms)} ms, expected above 0 and at most 60000`)
  const limited = (options?: CallOptions): CallOptions => {
    const deadline = clock.monotonic() + ms
    return { ...options, deadline: Math.min(deadline, options?.deadline ?? deadline) }
  }
  return {
    ...store,
    consume: (groups, options) => store.consume(groups, limited(options)),
    peek: (groups, options) => store.peek(groups, limited(options)),
    reset: (ids, options) => store.reset(ids, limited(options)),
  }
}
