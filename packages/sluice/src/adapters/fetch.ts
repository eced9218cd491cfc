import type { Decision } from '../decision/decision.ts'
import { having, requireForm } from '../errors/options.ts'
import { createGate, type Gate, type Passage, type RequestReader } from '../http/gate.ts'
import { type GateOptions, requireAddress, requireHandler, requireResponse } from '../http/gate-options.ts'
import { withHost } from '../http/host-of-url.ts'
import { onAborted } from '../http/leaving.ts'
import { PROBLEM_TYPE } from '../http/problem.ts'
import { finishedAfter, releaseOnAbort } from '../http/response-end.ts'
import { handlerOf, leftResponse } from '../http/waiting.ts'

export type { Decision }

/** `Rest` is what the platform passes to a handler after the request, such as an environment. */
export interface FetchOptions<Rest extends readonly unknown[]> extends GateOptions<Request, Response> {
  /**
   * The client's address from the platform, never from a header, which can be forged. Requests without an address share one key. Required
   * without `key`.
   */
  readonly address?: ((request: Request, ...rest: Rest) => string | undefined) | undefined
  /**
   * Answers a refused request; the limit's header fields are added. `'wait'`: requests wait for their turn instead (`maxWaitMs`,
   * `maxWaiting`) until their `signal` aborts.
   */
  readonly onDenied?: ((request: Request, decision: Decision, ...rest: Rest) => Response | Promise<Response>) | 'wait' | undefined
}

/** Turns a request into a response. `Own` is the framework's own type of request. */
export type FetchHandler<Rest extends readonly unknown[], Own extends Request = Request> = (
  request: Own,
  ...rest: Rest
) => Response | Promise<Response>

/** A rate limit for requests of the fetch API. */
export interface FetchLimit<Rest extends readonly unknown[]> {
  /**
   * Wraps a handler of requests that may pass. Send the returned response, or cancel its body (`response.body?.cancel()`): until then a
   * slot of a concurrency limit is held.
   * @throws LimiterError INVALID_OPTIONS if the handler is not a function
   */
  wrap<Own extends Request = Request>(handler: FetchHandler<Rest, Own>): (request: Own, ...rest: Rest) => Promise<Response>
  /**
   * For a server with its own control flow. Send the response that `applyHeaders` returns: a slot of a concurrency limit is held, and
   * `actualCost` is not called, until its body was sent.
   */
  check(request: Request, ...rest: Rest): Promise<FetchPassage>
}

/** What `check` returns. */
export interface FetchPassage {
  /** The response to a refused request. Absent if the request may pass. */
  readonly denial?: Response
  /** Adds the header fields of the limit. Send the returned response. */
  applyHeaders(response: Response): Response
  /** For a request that gets no response: gives back slots of concurrency limits. Absent if it has none. */
  readonly release?: (() => void) | undefined
}

const REQUEST = having('a Request', 'clone', 'text')
const decisions = new WeakMap<Request, Decision>()

/**
 * The decision of the last `rateLimit`. Undefined if none checked this request object. A copy of the request (`request.clone()`) has none.
 * @throws LimiterError INVALID_OPTIONS for a value that is not a Request
 */
export function decisionOf(request: Request): Decision | undefined {
  requireForm('decisionOf', 'request', request, REQUEST)
  return decisions.get(request)
}

const READER: RequestReader<Request> = {
  method: ({ method }) => method,
  target: ({ url }) => url,
  // A Headers object joins repeated lines with commas, so a comma in a value counts as a second line.
  headers: ({ headers, url }) => withHost(Object.fromEntries(headers), url),
  onLeave: onAborted,
}

function withFields(gate: Gate<Request>, made: Response, passage: Passage): Response {
  // A handler may return one response without a body for all requests, which would collect the fields of all.
  const mayBeShared = passage.decision !== undefined && made.body === null && made.status >= 200
  const response = mayBeShared ? new Response(null, made) : made
  const into = ({ headers }: Response): void => {
    const getHeader = (name: string): string | undefined => headers.get(name) ?? undefined
    const setHeader = (name: string, value: string): void => headers.set(name, value)
    gate.applyHeaders({ getHeader, setHeader, removeHeader: (name) => headers.delete(name) }, passage)
  }
  try {
    into(response)
    return response
  } catch (error) {
    // A response of `fetch` is immutable, so it is copied. The response to an upgrade cannot be copied.
    if (!(error instanceof TypeError) || response.status < 200) return response
    const copy = new Response(response.body, response)
    into(copy)
    return copy
  }
}

/**
 * A rate limit for servers that turn a Request into a Response. `wrap` and `check` reject with errors of the options' functions, but never
 * because a store fails.
 * @throws LimiterError INVALID_OPTIONS, also if `address` and `key` are both absent
 */
export function rateLimit<Rest extends readonly unknown[] = []>(options: FetchOptions<Rest>): FetchLimit<Rest> {
  const gate = createGate(options, READER, 'option')
  const { address } = options
  const onDenied = handlerOf(options.onDenied)
  const applyHeaders = (response: Response, passage: Passage): Response => withFields(gate, response, passage)
  const check = async (request: Request, ...rest: Rest): Promise<FetchPassage & Pick<Passage, 'settle'>> => {
    const passage = await gate.check(request, requireAddress(address?.(request, ...rest)))
    const { decision, answer, left, release, settle } = passage
    const held = settle === undefined ? { release } : { release, settle }
    const bound = { applyHeaders: (response: Response) => finishedAfter(applyHeaders(response, passage), passage, request), ...held }
    if (left === true) return { denial: leftResponse(), ...bound }
    if (decision === undefined) return bound
    decisions.set(request, decision)
    if (answer === undefined) {
      releaseOnAbort(passage, request)
      return bound
    }
    release?.()
    const plain = { status: answer.problem.status, headers: { 'Content-Type': PROBLEM_TYPE } }
    if (onDenied === undefined) return { denial: applyHeaders(new Response(answer.body, plain), passage), ...bound }
    const denial = await onDenied(request, decision, ...rest)
    requireResponse('what onDenied returned', denial)
    return { denial: applyHeaders(denial, passage), ...bound }
  }
  return {
    check,
    wrap(handler) {
      requireHandler('wrap', handler)
      return async (request, ...rest) => {
        const { denial, applyHeaders: apply, release, settle } = await check(request, ...rest)
        if (denial !== undefined) return denial
        try {
          const response = await handler(request, ...rest)
          requireResponse('what the handler returned', response)
          return apply(response)
        } catch (error) {
          release?.()
          settle?.({ status: undefined, whole: true })
          throw error
        }
      }
    },
  }
}
