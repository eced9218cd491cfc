import { MILLISECONDS, requireForm, SIGNAL } from '../errors/options.ts'
import type { CallOptions, Store } from '../stores/store.ts'
import type { Time } from '../time/time.ts'

export interface WaitOptions {
  readonly signal?: AbortSignal
  /** Milliseconds a remote store may take for this call, instead of what is configured. */
  readonly deadlineMs?: number
}

/**
 * Deadline and signal of one call. A store on the caller's own clock answers at once and gets no deadline.
 * @throws LimiterError INVALID_OPTIONS for a deadline that is not a number of milliseconds above 0, or what is not a signal
 */
export function timingOf(where: string, store: Store, clock: Time, configuredMs: number, patience?: WaitOptions): CallOptions {
  const remote = store.capabilities.clock === 'server'
  // Most calls have nothing of their own, and parts that are spread cost more than the whole.
  if (patience === undefined && remote) return { deadline: clock.monotonic() + configuredMs }
  const { signal, deadlineMs = configuredMs } = patience ?? {}
  requireForm(where, 'deadlineMs', deadlineMs, MILLISECONDS)
  if (signal !== undefined) requireForm(where, 'signal', signal, SIGNAL)
  return {
    ...(remote ? { deadline: clock.monotonic() + deadlineMs } : {}),
    ...(signal === undefined ? {} : { signal }),
  }
}
