import { refuseUnknown, validDeadline } from '../../errors/options.ts'
import { systemTime } from '../../time/system.ts'
import type { MonotonicInstant, Time } from '../../time/time.ts'
import type { AdjustOptions, CallOptions, Store } from '../store.ts'

export interface WarmUpOptions {
  /** Milliseconds from the first call on that calls may take until one has been answered or has failed; default 1,000. */
  readonly graceMs?: number
  readonly clock?: Time
}

/**
 * Gives the first calls time: a connection is made, a program is sent, a plan is found, all of which a deadline for calls has no room for. The grace ends with
 * the first answer and with the first failure, so that a store which is away costs it once. Bound G: that of the store.
 * @throws LimiterError INVALID_OPTIONS
 */
export function withWarmUp(store: Store, options: WarmUpOptions = {}): Store {
  refuseUnknown('withWarmUp', options, ['graceMs', 'clock'])
  const { graceMs = 1_000, clock = systemTime } = options
  validDeadline('withWarmUp', graceMs)
  // A store in this process has nothing to warm up.
  if (store.capabilities.sync) return store
  let until: MonotonicInstant | undefined
  let warm = false
  const patient = <Options extends CallOptions>(given: Options | undefined): Options | undefined => {
    if (warm || given?.deadline === undefined) return given
    const now = clock.monotonic()
    if (given.deadline <= now) return given
    until ??= now + graceMs
    return { ...given, deadline: Math.max(given.deadline, until) }
  }
  const watched = <T>(answer: Promise<T>): Promise<T> => {
    if (!warm) {
      const done = (): void => {
        warm = true
      }
      answer.then(done, done)
    }
    return answer
  }
  const adjust = store.adjust?.bind(store)
  const block = store.block?.bind(store)
  const lease = store.lease?.bind(store)
  return {
    ...(store.name === undefined ? {} : { name: store.name }),
    capabilities: store.capabilities,
    ...(store.slotOf === undefined ? {} : { slotOf: store.slotOf.bind(store) }),
    consume: (groups, given) => watched(store.consume(groups, patient(given))),
    peek: (groups, given) => watched(store.peek(groups, patient(given))),
    ...(adjust === undefined ? {} : { adjust: (calls, amounts, given?: AdjustOptions) => watched(adjust(calls, amounts, patient(given))) }),
    ...(block === undefined ? {} : { block: (ids, duration, given) => watched(block(ids, duration, patient(given))) }),
    ...(lease === undefined ? {} : { lease: (requests, given) => watched(lease(requests, patient(given))) }),
    reset: (ids, given) => watched(store.reset(ids, patient(given))),
    ready: (given) => store.ready(patient(given)),
    close: () => store.close(),
  }
}
