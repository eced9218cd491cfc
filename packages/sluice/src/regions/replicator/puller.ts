import { callObserver } from '../../errors/call-observer.ts'
import { LimiterError } from '../../errors/limiter-error.ts'
import { shown } from '../../errors/options.ts'
import type { MonotonicInstant, Random, Time } from '../../time/time.ts'
import type { RegionRequest } from './messages.ts'
import type { Region } from '../rights/roster.ts'

export interface PullerParts {
  readonly peer: Region
  readonly transport: (peer: Region, request: RegionRequest, signal: AbortSignal) => Promise<unknown>
  readonly timeoutMs: number
  readonly periodMs: number
  readonly clock: Time
  readonly random: Random
  readonly onError: ((peer: Region, error: unknown) => void) | undefined
}

/** Sends a request, and returns its unchecked answer. Settles by the deadline, even if the transport's promise does not. */
export type Send = (request: RegionRequest) => Promise<unknown>

/** Pulls from one peer repeatedly, one request at a time. */
export interface Puller {
  start(): void
  /**
   * Called when the peer has read from this region, which shows that it runs. A pull that was postponed after failures is then made soon.
   */
  onRequest(): void
  close(): Promise<void>
  status(): PullStatus
}

export interface PullStatus {
  /** When the latest successful pull began; undefined if there was none. */
  readonly pulledAt: MonotonicInstant | undefined
  /** How many pulls have failed since then. */
  readonly failures: number
  /** Why the latest pull failed; undefined if it did not fail. */
  readonly error: string | undefined
}

/** Waits vary by this fraction, so that regions do not pull simultaneously. */
const JITTER = 0.1
/** Wait before an urgent pull, as a fraction of a period. */
export const URGENT = 0.2

/** @param periodsAfter the wait in periods, after this many failures in a row */
export function createPuller(
  { peer, transport, timeoutMs, periodMs, clock, random, onError }: PullerParts,
  pull: (send: Send, began: MonotonicInstant) => Promise<void>,
  periodsAfter: (failures: number) => number,
): Puller {
  const exchange = createSend(peer, transport, timeoutMs, clock)
  let [closed, backsOff] = [false, false]
  let status: PullStatus = { pulledAt: undefined, failures: 0, error: undefined }
  let underWay: Promise<void> | undefined
  let cancel = (): void => {}

  const wait = (periods: number): void => {
    const jitter = 1 + JITTER * (2 * random() - 1)
    cancel = clock.after(periodMs * jitter * periods, run)
  }
  const run = (): void => {
    backsOff = false
    const began = clock.monotonic()
    underWay = pull(exchange.send, began)
      .then(
        () => {
          status = { pulledAt: began, failures: 0, error: undefined }
        },
        (reason: unknown) => {
          if (closed) return
          status = { ...status, failures: status.failures + 1, error: messageOf(reason) }
          report(onError, peer, reason)
        },
      )
      .finally(() => {
        if (closed) return
        const periods = periodsAfter(status.failures)
        backsOff = periods > 1
        wait(periods)
      })
  }
  return {
    start: run,
    onRequest() {
      if (closed || !backsOff) return
      // The wait is shortened only once: otherwise frequent requests of the peer would postpone the pull for ever.
      backsOff = false
      cancel()
      wait(URGENT)
    },
    async close() {
      closed = true
      cancel()
      exchange.close()
      await underWay
    },
    status: () => status,
  }
}

function createSend(
  peer: Region,
  transport: PullerParts['transport'],
  timeoutMs: number,
  clock: Time,
): { readonly send: Send; close(): void } {
  let closed = false
  let current: AbortController | undefined
  return {
    async send(request) {
      if (closed) throw ended()
      const abort = new AbortController()
      const { signal } = abort
      current = abort
      const stop = clock.after(timeoutMs, () => abort.abort(new Error(`no page of region ${peer} within ${timeoutMs} ms`)))
      const aborted = new Promise<never>((_, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }),
      )
      // A transport that throws at once must reject too: otherwise nobody would handle a rejection of `aborted`.
      const answered = async (): Promise<unknown> => transport(peer, request, signal)
      try {
        return await Promise.race([answered(), aborted])
      } finally {
        stop()
      }
    },
    close() {
      closed = true
      current?.abort(ended())
    },
  }
}

function ended(): LimiterError {
  return new LimiterError('CLOSED', 'replicate: closed')
}

/** For any rejection: `String` throws for objects that it cannot convert, and reading an object may throw too. */
function messageOf(reason: unknown): string {
  try {
    const message: unknown = reason instanceof Error ? reason.message : reason
    return typeof message === 'string' ? message : shown(message)
  } catch {
    return 'an error without a message'
  }
}

export function report(onError: PullerParts['onError'], region: Region, error: unknown): void {
  if (onError !== undefined) callObserver(onError, region, error)
}

/** @throws LimiterError if a page does not go beyond the one before, because such a pull would never end */
export function requireProgress(peer: Region, cursor: number, last: number, all: boolean): void {
  if (cursor > last || (cursor === last && all)) return
  throw new LimiterError('INVALID_OPTIONS', `page of region ${peer}: cursor is ${cursor}, expected more than ${last}`)
}
