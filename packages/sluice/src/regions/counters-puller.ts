import { LimiterError } from '../errors/limiter-error.ts'
import type { MonotonicInstant, Random, Time } from '../time/time.ts'
import type { Counters } from './counters.ts'
import { readSpendPage, spendRequest } from './counters-messages.ts'
import type { Position } from './message-reader.ts'
import type { RegionRequest } from './messages.ts'
import type { Region } from './roster.ts'
import type { Run } from './state.ts'

/** What a puller works with. */
export interface SpendPullerParts {
  readonly self: Region
  readonly peer: Region
  readonly counters: Counters
  readonly transport: (peer: Region, request: RegionRequest, signal: AbortSignal) => Promise<unknown>
  readonly timeoutMs: number
  readonly periodMs: number
  readonly clock: Time
  readonly random: Random
  readonly report: (error: unknown) => void
}

/** Reads what one peer has spent, again and again. At most one request is under way. */
export interface SpendPuller {
  close(): Promise<void>
  /** The life of the peer's store that was read last; undefined before the first page. */
  readonly run: Run | undefined
  /** When the latest pull began that read every row of the peer. */
  readonly pulledAt: MonotonicInstant | undefined
  readonly failures: number
  readonly error: string | undefined
}

/** Each wait is up to this part shorter or longer, so that regions do not pull in step. */
const JITTER = 0.1

/** Pulls at once. Failures do not lengthen the waits, because a region that cannot read a peer may soon be cut off. */
export function startSpendPuller(parts: SpendPullerParts): SpendPuller {
  const { self, peer, counters, transport, timeoutMs, periodMs, clock, random, report } = parts
  let [failures, closed] = [0, false]
  let [error, pulledAt]: [string?, MonotonicInstant?] = []
  let position: Position | undefined
  let cancel = (): void => {}
  let current: AbortController | undefined

  /** Settles at the latest when the time is over, whatever the transport does. */
  const send = async (request: RegionRequest): Promise<unknown> => {
    if (closed) throw ended()
    const abort = new AbortController()
    const { signal } = abort
    current = abort
    const stop = clock.after(timeoutMs, () => abort.abort(new Error(`no page of region ${peer} within ${timeoutMs} ms`)))
    const aborted = new Promise<never>((_, reject) =>
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }),
    )
    try {
      return await Promise.race([transport(peer, request, signal), aborted])
    } finally {
      stop()
    }
  }
  const pull = async (): Promise<void> => {
    // What was spent by now is in the pages, because they are made later.
    const asked = clock.monotonic()
    let read = position
    let fits = true
    for (;;) {
      const page = readSpendPage(await send(spendRequest({ from: self, to: peer, read })), peer, self)
      const last = read?.run === page.run ? read.at : 0
      if (page.cursor < last || (page.cursor === last && !page.all))
        throw new LimiterError('INVALID_OPTIONS', `page of region ${peer}: cursor is ${page.cursor}, expected more than ${last}`)
      fits = counters.receive(peer, page.run, page) && fits
      // A page of another run begins anew, whatever the position was.
      read = { run: page.run, at: page.cursor }
      if (fits) position = read
      if (!page.all) continue
      if (!fits) throw new Error(`region ${self} has no room for the states of all keys that ${peer} has`)
      counters.complete(peer, page.run, page.births, asked)
      pulledAt = asked
      return
    }
  }
  const run = (): void => {
    underWay = pull()
      .then(
        () => {
          failures = 0
          error = undefined
        },
        (reason: unknown) => {
          if (closed) return
          failures += 1
          error = reason instanceof Error ? reason.message : String(reason)
          report(reason)
        },
      )
      .finally(() => {
        if (!closed) cancel = clock.after(periodMs * (1 + JITTER * (2 * random() - 1)), run)
      })
  }
  let underWay: Promise<void> | undefined
  run()
  return {
    async close() {
      closed = true
      cancel()
      current?.abort(ended())
      await underWay
    },
    get run() {
      return position?.run
    },
    get pulledAt() {
      return pulledAt
    },
    get failures() {
      return failures
    },
    get error() {
      return error
    },
  }
}

function ended(): LimiterError {
  return new LimiterError('CLOSED', 'replicate: closed')
}
