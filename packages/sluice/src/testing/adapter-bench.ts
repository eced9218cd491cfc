import { afterEach, beforeEach, expect, vi } from 'vitest'
import { tokenBucket } from '../algorithms/token-bucket.ts'
import { createLimiter, type LimiterOptions } from '../create-limiter.ts'
import type { Decision } from '../decision/decision.ts'
import type { GateOptions } from '../http/gate-options.ts'
import type { Limiter } from '../limiter/limiter.ts'
import { type ManualClock, manualClock } from '../time/manual.ts'
import { sendRequest, type HttpAnswer, type HttpRequest } from './send-http.ts'

/** A server on the loopback address. */
export interface Served {
  /** Such as `http://127.0.0.1:8080`. */
  readonly url: string
  /** Also ends its connections. */
  close(): Promise<void>
}

/** An adapter under test. */
export interface AdapterSuiteOptions<Request> {
  /**
   * Starts a server. Every request passes through the adapter, and then to a handler that sends 200 and `hello`, with `Vary: Accept` and
   * `Cache-Control: max-age=60`. An error of the adapter becomes 500. Rejects for options that the adapter refuses.
   * @param answer if present, `onDenied` sends 418 with its text
   * @param mayAnswer if present, the handler waits for it before it sends anything
   */
  serve(options: GateOptions<Request>, answer?: (decision: Decision) => string, mayAnswer?: Promise<void>): Promise<Served>
  /** A header field of the request, by its name in lower case. */
  header(request: Request, name: string): string | undefined
  /** The framework's path, with the query. */
  path(request: Request): string
}

export interface Send {
  (request?: HttpRequest): Promise<HttpAnswer>
  readonly url: string
}

/** Everything that a test case opened with these tools is closed after the case. */
export interface Bench<Request> {
  readonly adapter: AdapterSuiteOptions<Request>
  /** Stands still until a test case moves it. */
  clock(): ManualClock
  /** By default two requests at once, and one more per minute. */
  limiter(options?: Partial<LimiterOptions>): Limiter
  serve(...args: Parameters<AdapterSuiteOptions<Request>['serve']>): Promise<Send>
  readonly said: readonly string[]
}

export const PROBLEM: RegExp = /^application\/problem\+json\b/
export const QUOTA: string[] = ['', '-policy', '-limit', '-remaining', '-reset'].map((end) => `ratelimit${end}`)
export const LEGACY = ['x-ratelimit-limit', 'x-ratelimit-remaining'] as const
/** All header fields of a limit except Retry-After. */
export const FIELDS: readonly string[] = [...QUOTA, ...LEGACY]

/** Also registers hooks for each case; to be called inside `describe`. */
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
    async serve(...args) {
      const served = await adapter.serve(...args)
      open.push(served)
      return Object.assign((request?: HttpRequest) => sendRequest(served.url, request), { url: served.url })
    },
  }
}

export function sent({ headers }: HttpAnswer, names: readonly string[]): string[] {
  return names.filter((each) => headers[each] !== undefined)
}

export async function statuses(send: Send, requests: readonly HttpRequest[]): Promise<number[]> {
  const seen: number[] = []
  for (const request of requests) seen.push((await send(request)).status)
  return seen
}
