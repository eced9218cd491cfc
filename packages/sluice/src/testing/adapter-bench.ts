import { afterEach, beforeEach, expect, vi } from 'vitest'
import { tokenBucket } from '../algorithms/token-bucket.ts'
import { createLimiter, type LimiterOptions } from '../create-limiter.ts'
import type { Decision } from '../decision/decision.ts'
import type { GateOptions } from '../http/gate-options.ts'
import type { Limiter } from '../limiter/limiter.ts'
import { type ManualClock, manualClock } from '../time/manual.ts'
import { sendRequest, type HttpAnswer, type HttpRequest } from './send-http.ts'

/** A server that listens on the loopback address. */
export interface Served {
  /** Its origin, such as `http://127.0.0.1:8080`. */
  readonly url: string
  /** Stops the server and ends its connections. */
  close(): Promise<void>
}

/** An adapter under test: how to serve with it, and how to read its requests. */
export interface AdapterSuiteOptions<Request> {
  /**
   * Starts a server. Every request, of any path and method, passes through the adapter with `options` and then to a handler. The handler
   * sends 200 and `hello`, with `Vary: Accept` and `Cache-Control: max-age=60`. An error of the adapter becomes 500. Rejects for options
   * that the adapter refuses.
   * @param answer if present, the adapter's `onDenied` sends 418 with its text
   */
  serve(options: GateOptions<Request>, answer?: (decision: Decision) => string): Promise<Served>
  /** One header field of the framework's request, by its name in lower case. */
  header(request: Request, name: string): string | undefined
  /** The framework's path, with the query. */
  path(request: Request): string
}

/** Sends requests to one server. */
export interface Send {
  (request?: HttpRequest): Promise<HttpAnswer>
  readonly url: string
}

/** The tools of the adapter suite's cases. Everything that a case opened with them is closed after the case. */
export interface Bench<Request> {
  readonly adapter: AdapterSuiteOptions<Request>
  /** A clock that stands still until a test case moves it. */
  clock(): ManualClock
  /** Makes a limiter. By default it allows two requests at once and one more per minute. */
  limiter(options?: Partial<LimiterOptions>): Limiter
  serve(options: GateOptions<Request>, answer?: (decision: Decision) => string): Promise<Send>
  /** The lines that were written to the console. */
  readonly said: readonly string[]
}

export const PROBLEM: RegExp = /^application\/problem\+json\b/
export const QUOTA: string[] = ['', '-policy', '-limit', '-remaining', '-reset'].map((end) => `ratelimit${end}`)
export const LEGACY = ['x-ratelimit-limit', 'x-ratelimit-remaining'] as const
/** The names of all header fields of a limit except Retry-After. */
export const FIELDS: readonly string[] = [...QUOTA, ...LEGACY]

/** Makes the bench, and registers hooks that open and close it around each case. To be called inside `describe`. */
export function adapterBench<Request>(adapter: AdapterSuiteOptions<Request>): Bench<Request> {
  let clock = manualClock()
  let open: { close(): Promise<void> }[] = []
  const said: string[] = []
  beforeEach(() => {
    clock = manualClock()
    for (const method of ['log', 'info', 'warn', 'error'] as const)
      vi.spyOn(console, method).mockImplementation((...parts) => void said.push(parts.join(' ')))
  })
  afterEach(async () => {
    vi.restoreAllMocks()
    const closing = open
    open = []
    await Promise.all(closing.map((one) => one.close()))
    expect(said.splice(0)).toEqual([])
  })
  return {
    adapter,
    said,
    clock: () => clock,
    limiter(options = {}) {
      const limit = options.limits === undefined ? { limit: tokenBucket({ rate: '1/min', burst: 2 }) } : {}
      const made = createLimiter({ name: 'api', clock, ...limit, ...options })
      open.push(made)
      return made
    },
    async serve(options, answer) {
      const served = await adapter.serve(options, answer)
      open.push(served)
      return Object.assign((request?: HttpRequest) => sendRequest(served.url, request), { url: served.url })
    },
  }
}

/** The names of headers that a response has. */
export function sent({ headers }: HttpAnswer, names: readonly string[]): string[] {
  return names.filter((each) => headers[each] !== undefined)
}

/** Sends requests one after another; returns their statuses. */
export async function statuses(send: Send, requests: readonly HttpRequest[]): Promise<number[]> {
  const seen: number[] = []
  for (const request of requests) seen.push((await send(request)).status)
  return seen
}
