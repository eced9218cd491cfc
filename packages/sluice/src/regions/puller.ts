import { LimiterError } from '../errors/limiter-error.ts'
import type { MonotonicInstant, Random, Time } from '../time/time.ts'
import type { Ledger } from './ledger.ts'
import { type Position, type Pulled, readPage, type RegionRequest, requestOf } from './messages.ts'
import type { Needs } from './needs.ts'
import { hello, learn, replace, unanswered } from './recovery.ts'
import type { Region } from './roster.ts'
import type { Hello, RegionStore, Run } from './state.ts'

/** What a puller works with. */
export interface PullerParts {
  readonly self: Region
  readonly peer: Region
  readonly ledger: Ledger
  readonly needs: Needs
  readonly transport: (peer: Region, request: RegionRequest, signal: AbortSignal) => Promise<unknown>
  readonly timeoutMs: number
  readonly periodMs: number
  readonly clock: Time
  readonly random: Random
  readonly onError: ((peer: Region, error: unknown) => void) | undefined
}

/** Reads from one peer again and again. At most one request is under way. */
export interface Puller {
  start(): void
  /** The peer has read from here, so it runs: a pull that waits because others failed is made soon. */
  onRequest(): void
  close(): Promise<void>
  /** When the latest pull that read all began. */
  readonly pulledAt: MonotonicInstant | undefined
  readonly failures: number
  readonly error: string | undefined
}

/** Each wait is up to this part shorter or longer, so that regions do not pull in step. */
const JITTER = 0.1
/** The longest wait after failures, in periods. */
const MAX_BACKOFF = 5
/** How much sooner the next pull is while the store is not open, which waits for its peers, or once a peer that failed has read. */
const HURRY = 5

export function createPuller(parts: PullerParts): Puller {
  const { self, peer, ledger, needs, transport, timeoutMs, periodMs, clock, random, onError } = parts
  let [failures, closed, backsOff] = [0, false, false]
  let [error, pulledAt]: [string?, MonotonicInstant?] = []
  let underWay: Promise<void> | undefined
  let cancel = (): void => {}
  let current: AbortController | undefined
  // A cursor counts for one run of the peer, and one run and era of this region: what came before an era began here was not received.
  let knownNeeds: Position | undefined
  // When a page last named this run, and how many runs of this region the peer had bound then.
  let known: { readonly run: Run; readonly own: Run; readonly joins: number } | undefined
  let rows: (Position & { readonly of: Pick<RegionStore, 'run' | 'era'> }) | undefined

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
    const began = clock.monotonic()
    let greeting: Hello | undefined
    let [fits, again] = [true, false]
    // Other processes may have changed what a server has.
    await ledger.update((region) => region)
    const atStart = ledger.region
    let position: Position | undefined = rows !== undefined && isOf(rows.of, atStart) ? { run: rows.run, at: rows.at } : undefined
    for (;;) {
      const { region } = ledger
      const request = requestOf({ from: self, to: peer, rows: position, ...needs.since(peer, knownNeeds), hello: greeting })
      const page = readPage(await send(request), peer, self)
      knownNeeds = page.needsAt
      await checkBound(page)
      if (page.answer !== undefined) {
        const { answer } = page
        await ledger.update((store) => learn(store, answer))
      } else if (greeting === undefined && unanswered(region).includes(peer) && !defers(region, page)) {
        // Before a new run reads rows, its peer must know it. The next request says hello to the run that answered.
        greeting = hello(region, { from: peer, run: page.run, joins: page.joins })
        continue
      }
      const last = position?.run === page.run ? position.at : 0
      // A peer that counts from the beginning again is read from the beginning again.
      if (page.cursor < last && !again) {
        again = true
        position = rows = undefined
        continue
      }
      if (page.cursor < last || (page.cursor === last && page.status === undefined))
        throw new LimiterError('INVALID_OPTIONS', `page of region ${peer}: cursor is ${page.cursor}, expected more than ${last}`)
      position = { run: page.run, at: page.cursor }
      fits = (await ledger.receive(page)) && fits
      // Rows that did not fit are read again, and so are all rows that came before an era began here.
      if (fits && isOf(atStart, ledger.region)) rows = { ...position, of: { run: atStart.run, era: atStart.era } }
      if (page.status !== undefined) break
    }
    pulledAt = began
  }
  /** A page that came late names an earlier run, but then fewer runs were bound than when this one was. */
  const checkBound = async ({ run: theirs, joins, status }: Pulled): Promise<void> => {
    const { run } = ledger.region
    if (status?.toRun === run) known = { run: theirs, own: run, joins }
    if (status?.toRun === undefined || known?.run !== theirs || known.own !== run || joins <= known.joins) return
    await ledger.update((region, now) => (region.run === run ? replace(region, now) : region))
    throw new LimiterError(
      'CLOSED',
      `region ${peer} has bound a later run of region ${self}: another store has this name. This one denies every call until it is started again`,
    )
  }
  const isOf = (of: Pick<RegionStore, 'run' | 'era'>, { run, era }: RegionStore): boolean => of.run === run && of.era === era
  /** Two new runs that greet each other at once void each other's answers. So the first by name greets first. */
  const defers = ({ bound }: RegionStore, { status, run }: Pulled): boolean =>
    status?.phase === 'learning' && peer < self && bound.get(peer) !== run
  /** @param periods until the next pull */
  const wait = (periods: number): void => {
    const jitter = 1 + JITTER * (2 * random() - 1)
    cancel = clock.after(periodMs * jitter * periods, run)
  }
  const next = (): void => {
    if (closed) return
    const backoff = Math.min(MAX_BACKOFF, 2 ** Math.max(0, failures - 1))
    backsOff = backoff > 1
    wait(failures === 0 && ledger.region.phase !== 'open' ? 1 / HURRY : backoff)
  }
  const run = (): void => {
    backsOff = false
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
          report(onError, peer, reason)
        },
      )
      .finally(next)
  }
  return {
    start: run,
    onRequest() {
      if (closed || !backsOff) return
      // Once for each wait: else requests that come often would put the pull off for ever.
      backsOff = false
      cancel()
      wait(1 / HURRY)
    },
    async close() {
      closed = true
      cancel()
      current?.abort(ended())
      await underWay
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

/** Reports a failure. Whatever the observer does, the next pull must come. */
export function report(onError: PullerParts['onError'], region: Region, error: unknown): void {
  try {
    onError?.(region, error)
  } catch {
    // What the observer throws is dropped, as there is nobody to tell.
  }
}
