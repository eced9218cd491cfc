import { validDeadline } from '../errors/options.ts'
import type { CallGroup, CallOptions, GroupVerdict, Store } from '../stores/store.ts'
import type { Time } from '../time/time.ts'
import { refusedBy } from './decide.ts'

export interface Patience {
  readonly signal?: AbortSignal
  /** Milliseconds a remote store may take for this call, instead of what is configured. */
  readonly deadlineMs?: number
}

/**
 * Deadline and signal of one call. A store on the caller's own clock answers at once and gets no deadline.
 * @throws LimiterError INVALID_OPTIONS for a deadline that is no number of milliseconds above 0
 */
export function timingOf(where: string, store: Store, clock: Time, configuredMs: number, patience: Patience = {}): CallOptions {
  const { signal, deadlineMs = configuredMs } = patience
  validDeadline(where, deadlineMs)
  return {
    ...(store.capabilities.clock === 'server' ? { deadline: clock.monotonic() + deadlineMs } : {}),
    ...(signal === undefined ? {} : { signal }),
  }
}

/** The store's verdicts; where it failed, an undecided and refused one for each group. Rejects only for defects. */
export async function askStore(
  store: Store,
  verb: 'consume' | 'peek',
  groups: readonly CallGroup[],
  options: CallOptions,
): Promise<readonly GroupVerdict[]> {
  try {
    return await store[verb](groups, options)
  } catch (error) {
    return groups.map(() => refusedBy(error))
  }
}
