import { MILLISECONDS, requireForm, SIGNAL } from '../errors/options.ts'
import type { CallOptions, Store } from '../stores/store.ts'
import type { Time } from '../time/time.ts'

export interface WaitOptions {
  readonly signal?: AbortSignal
  /** Milliseconds that a remote store may take for this call; default the configured deadline. */
  readonly deadlineMs?: number
}

/**
 * Computes deadline and signal of one call. A store on the caller's own clock answers synchronously and gets no deadline.
 * @throws LimiterError INVALID_OPTIONS if `deadlineMs` is not a number of milliseconds above 0, or `signal` is not a signal
 */
export function timingOf(where: string, store: Store, clock: Time, configuredMs: number, patience?: WaitOptions): CallOptions {
  const remote = store.capabilities.clock === 'server'
  // Fast path: most calls have no options of their own, and spreading partial objects costs more than one literal.
  if (patience === undefined && remote) return { deadline: clock.monotonic() + configuredMs }
  const { signal, deadlineMs = configuredMs } = patience ?? {}
  requireForm(where, 'deadlineMs', deadlineMs, MILLISECONDS)
  if (signal !== undefined) requireForm(where, 'signal', signal, SIGNAL)
  return {
    ...(remote ? { deadline: clock.monotonic() + deadlineMs } : {}),
    ...(signal === undefined ? {} : { signal }),
  }
}
