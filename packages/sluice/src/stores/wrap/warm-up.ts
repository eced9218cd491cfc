import { checkOptions, CLOCK, type Form, MILLISECONDS, requireForm, STORE } from '../../errors/options.ts'
import { systemTime } from '../../time/system.ts'
import type { MonotonicInstant, Time } from '../../time/time.ts'
import type { CallOptions, Store } from '../store.ts'
import { eachCall } from './each-call.ts'

export interface WarmUpOptions {
  /** Milliseconds from the first call on that calls may take until one has been answered or has failed; default 1,000. */
  readonly graceMs?: number
  readonly clock?: Time
}

const FORMS: Readonly<Record<string, Form>> = { graceMs: MILLISECONDS, clock: CLOCK }

/**
 * Gives the first calls time: a connection is made, a program is sent, a plan is found, all of which a deadline for calls has no room for. The grace ends with
 * the first answer and with the first failure, so that a store which is away costs it once. Bound G: that of the store.
 * @throws LimiterError INVALID_OPTIONS
 */
export function withWarmUp(store: Store, options: WarmUpOptions = {}): Store {
  requireForm('withWarmUp', 'store', store, STORE)
  checkOptions('withWarmUp', options, FORMS)
  const { graceMs = 1_000, clock = systemTime } = options
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
  const done = (): void => {
    warm = true
  }
  return eachCall(store, (operation, given, send) => {
    const answer = send(patient(given))
    // A store may be ready before it was ever asked.
    if (!warm && operation !== 'ready') answer.then(done, done)
    return answer
  })
}
