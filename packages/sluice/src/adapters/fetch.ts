import type { Decision } from '../decision/decision.ts'
import { having, requireForm } from '../errors/options.ts'
import { createGate, type Passage, type RequestReader } from '../http/gate.ts'
import { type GateOptions, requireAddress, requireHandler, requireResponse } from '../http/gate-options.ts'
import { onAborted } from '../http/leaving.ts'
import { PROBLEM_TYPE } from '../http/problem.ts'
import { finishedAfter, releaseOnAbort } from '../http/response-end.ts'
import { handlerOf, leftResponse } from '../http/waiting.ts'

/**
 * Options of `rateLimit` for the fetch API. `Rest` are the arguments that the platform passes to a handler after the request, such as an
 * environment, the connection or the server.
 */
export interface FetchOptions<Rest extends readonly unknown[]> extends GateOptions<Request, Response> {
  /**
   * The address of the peer, which a Request does not contain. It must come from the platform, never from a header: forwarding headers are
   * read in addition if `trustedProxies` trusts the peer. All requests for which it returns undefined share one key. Required, unless there
   * is a `key`.
   */
  readonly address?: (request: Request, ...rest: Rest) => string | undefined
  /**
   * Answers a refused request instead of the problem body. The limit's header fields are added to the response that the function
   * returns. `'wait'`: requests wait for their turn, and only those that would wait too long (`maxWaitMs`) or find too many others
   * waiting (`maxWaiting`) are refused. A client that leaves is noticed by the request's `signal`.
   */
  readonly onDenied?: ((request: Request, decision: Decision, ...rest: Rest) => Response | Promise<Response>) | 'wait'
}

/** Turns a request, and what the platform passes after it, into a response. `Own` is the framework's own type of request. */
export type FetchHandler<Rest extends readonly unknown[], Own extends Request = Request> = (
  request: Own,
  ...rest: Rest
) => Response | Promise<Response>

/** A rate limit for requests of the fetch API. */
export interface FetchLimit<Rest extends readonly unknown[]> {
  /**
   * Wraps a handler, which is called only for requests that may pass. Send the response that it returns: a slot of a concurrency limit is
   * held until the response's body was sent. If your code drops the response instead, it must cancel the body: `response.body?.cancel()`.
   * @throws LimiterError INVALID_OPTIONS if the handler is not a function
   */
  wrap<Own extends Request = Request>(handler: FetchHandler<Rest, Own>): (request: Own, ...rest: Rest) => Promise<Response>
  /**
   * For a server with its own control flow: the response to a refused request, and a function that adds the header fields. Send the
   * response that this function returns: a slot of a concurrency limit is held until its body was sent. Then the option `actualCost` is
   * called, if there is one.
   */
  check(request: Request, ...rest: Rest): Promise<FetchPassage>
}

/** What a server does with a request that it checked itself. */
export interface FetchPassage {
  /** The response to a refused request; absent if the request may pass. */
  readonly denial?: Response
  /** Adds the header fields of the limit to a response. Send the response that this method returns. */
  applyHeaders(response: Response): Response
  /** Gives back the slots of concurrency limits, for a request that gets no response; absent if the request holds no slot. */
  readonly release?: (() => void) | undefined
}

const REQUEST = having('a Request', 'clone', 'text')
const decisions = new WeakMap<Request, Decision>()

/**
 * The decision of the last `rateLimit` that checked this request object, for a handler behind `wrap` or `check`. Undefined if
 * none has checked it, for example because of `skip`. A copy of the request (`new Request(request)`, `request.clone()`) has none.
 * @throws LimiterError INVALID_OPTIONS for a value that is not a Request
 */
export function decisionOf(request: Request): Decision | undefined {
  requireForm('decisionOf', 'request', request, REQUEST)
  return decisions.get(request)
}

const READER: RequestReader<Request> = {
  method: ({ method }) => method,
  target: ({ url }) => url,
  // A Headers object joins repeated lines of a field with commas. So a field with a comma in its value counts as sent on several lines.
  headers: ({ headers }) => Object.fromEntries(headers),
  onLeave: onAborted,
}

/**
 * A rate limit for servers that turn a Request into a Response. `wrap` and `check` reject with the error of key, limit, cost, skip,
 * address or onDenied, and never because a store fails.
 * @throws LimiterError INVALID_OPTIONS for options that every adapter refuses, and if both `address` and `key` are absent
 */
export function rateLimit<Rest extends readonly unknown[] = []>(options: FetchOptions<Rest>): FetchLimit<Rest> {
  const gate = createGate(options, READER, 'option')
  const { address } = options
  const onDenied = handlerOf(options.onDenied)
  const applyHeaders = (response: Response, passage: Passage): Response => {
    const into = ({ headers }: Response): void => {
      const getHeader = (name: string): string | undefined => headers.get(name) ?? undefined
      gate.applyHeaders({ getHeader, setHeader: (name, value) => headers.set(name, value) }, passage)
    }
    try {
      into(response)
      return response
    } catch (error) {
      // A response of `fetch` is immutable, so it is copied. The response to an upgrade cannot be copied and is returned unchanged.
      if (!(error instanceof TypeError) || response.status < 200) return response
      const copy = new Response(response.body, response)
      into(copy)
      return copy
    }
  }
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
