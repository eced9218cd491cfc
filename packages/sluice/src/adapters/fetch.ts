import type { Decision } from '../decision/decision.ts'
import { createGate, type Passage, type RequestReader } from '../http/gate.ts'
import { type GateOptions, requireHandler } from '../http/gate-options.ts'
import { PROBLEM_TYPE } from '../http/problem.ts'

/** `Rest` is what the platform passes to a handler after the request: an environment, the connection, the server. */
export interface FetchOptions<Rest extends readonly unknown[]> extends GateOptions<Request> {
  /**
   * The address of the peer, which a Request does not contain. It must come from the platform, never from a header: forwarding headers are
   * read in addition if `trustedProxies` trusts the peer. Undefined: all such requests share one key. Required, unless there is a `key`.
   */
  readonly address?: (request: Request, ...rest: Rest) => string | undefined
  /** Answers a refused request instead of the problem body. The limit's header fields are added to its response. */
  readonly onDenied?: (request: Request, decision: Decision, ...rest: Rest) => Response | Promise<Response>
}

export type FetchHandler<Rest extends readonly unknown[]> = (request: Request, ...rest: Rest) => Response | Promise<Response>

export interface FetchLimit<Rest extends readonly unknown[]> {
  /** The handler is called only for requests that may pass. @throws LimiterError INVALID_OPTIONS if it is not a function */
  wrap(handler: FetchHandler<Rest>): (request: Request, ...rest: Rest) => Promise<Response>
  /** For a server with its own control flow: the response to a refused request, and a function that adds the header fields. */
  check(request: Request, ...rest: Rest): Promise<{ readonly denial?: Response; applyHeaders(response: Response): Response }>
}

const READER: RequestReader<Request> = {
  method: ({ method }) => method,
  target: ({ url }) => url,
  // A Headers object has joined several lines of a field, so a value with a comma counts as several.
  headers: ({ headers }) => Object.fromEntries(headers),
}

/**
 * A rate limit for servers that turn a Request into a Response. Both functions reject with what key, cost, skip, address or onDenied threw,
 * never because a store fails.
 * @throws LimiterError INVALID_OPTIONS as every adapter, and without both address and key
 */
export function rateLimit<Rest extends readonly unknown[] = []>(options: FetchOptions<Rest>): FetchLimit<Rest> {
  const gate = createGate(options, READER, 'option')
  const { address, onDenied } = options
  const applyHeaders = (response: Response, passage: Passage): Response => {
    const into = ({ headers }: Response): void =>
      gate.applyHeaders(
        { getHeader: (name) => headers.get(name) ?? undefined, setHeader: (name, value) => headers.set(name, value) },
        passage,
      )
    try {
      into(response)
      return response
    } catch (error) {
      // Responses of fetch are immutable, so copy them. Those of an upgrade cannot be copied and are returned unchanged.
      if (!(error instanceof TypeError) || response.status < 200) return response
      const copy = new Response(response.body, response)
      into(copy)
      return copy
    }
  }
  const check: FetchLimit<Rest>['check'] = async (request, ...rest) => {
    const passage = await gate.check(request, address?.(request, ...rest))
    const { decision, answer } = passage
    const bound = { applyHeaders: (response: Response) => applyHeaders(response, passage) }
    if (decision === undefined || answer === undefined) return bound
    const plain = { status: answer.problem.status, headers: { 'Content-Type': PROBLEM_TYPE } }
    const denial = await (onDenied?.(request, decision, ...rest) ?? new Response(answer.body, plain))
    return { denial: applyHeaders(denial, passage), ...bound }
  }
  return {
    check,
    wrap(handler) {
      requireHandler('wrap', handler)
      return async (request, ...rest) => {
        const { denial, applyHeaders: apply } = await check(request, ...rest)
        return denial ?? apply(await handler(request, ...rest))
      }
    },
  }
}
