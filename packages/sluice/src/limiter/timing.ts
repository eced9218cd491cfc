import { MILLISECONDS, requireForm, SIGNAL } from '../errors/options.ts'
import type { CallOptions } from '../stores/store.ts'
import type { Time } from '../time/time.ts'

/** How long a call waits for a remote store. */
export interface WaitOptions {
  /** If it aborts, the call stops waiting. The store may still carry it out. */
  readonly signal?: AbortSignal | undefined
  /** Milliseconds that a remote store may take; default: the configured deadline. */
  readonly deadlineMs?: number | undefined
}

/** Other option names are refused, because a misspelt cost would charge 1. */
export const WAIT: readonly string[] = ['deadlineMs', 'signal']
export const CHECK: readonly string[] = [...WAIT, 'cost']
export const PEEK: readonly string[] = [...CHECK, 'at']
export const ONCE: readonly string[] = [...CHECK, 'id', 'holdMs']
export const REFUND: readonly string[] = [...CHECK, 'receipt']
export const REQUEST: readonly string[] = ['key', 'cost']
export const COST: readonly string[] = ['cost']

/** For calls without `deadlineMs`; `ms` counts from the call. */
export interface Deadline {
  readonly ms: number
  /** Set for the built-in default, which may be extended while the first connection is made. */
  readonly stretch?: true
}

export const DEFAULT_DEADLINE: Deadline = { ms: 50, stretch: true }

/** @param deadline undefined for a store in this process, which answers at once */
export function timingOf(where: string, clock: Time, deadline: Deadline | undefined, options?: WaitOptions): CallOptions {
  // Fast path: most calls pass no options.
  if (options === undefined) return deadline === undefined ? NO_OPTIONS : deadlineOf(clock, deadline)
  const { signal, deadlineMs } = options
  if (deadlineMs !== undefined) requireForm(where, 'deadlineMs', deadlineMs, MILLISECONDS)
  if (signal !== undefined) requireForm(where, 'signal', signal, SIGNAL)
  const timed = deadline === undefined ? NO_OPTIONS : deadlineOf(clock, deadlineMs === undefined ? deadline : { ms: deadlineMs })
  return signal === undefined ? timed : { ...timed, signal }
}

const NO_OPTIONS: CallOptions = {}

function deadlineOf(clock: Time, { ms, stretch }: Deadline): CallOptions {
  const deadline = clock.monotonic() + ms
  return stretch === true ? { deadline, stretch } : { deadline }
}
