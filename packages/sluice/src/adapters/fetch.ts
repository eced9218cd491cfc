import type { Decision } from '../decision/decision.ts'
import { createGate, type Passage, type RequestReader } from '../http/gate.ts'
import { type GateOptions, requireHandler } from '../http/gate-options.ts'
import { PROBLEM_TYPE } from '../http/problem.ts'

/** `Rest` is what the platform gives a handler beside the request: an environment, the connection, the server. */
export interface FetchOptions<Rest extends readonly unknown[]> extends GateOptions<Request> {
  /**
   * The address of the peer, which a Request does not have: the platform's word, never a header's (those are read on top of it, where
   * `trustedProxies` trusts the peer). Undefined: all such requests count as one. Required, unless there is a `key`.
   */
  readonly address?: (request: Request, ...rest: Rest) => string | undefined
  /** Answers a refused request instead of the problem body; `headers` are added to what it gives. */
  readonly onDenied?: (request: Request, decision: Decision, ...rest: Rest) => Response | Promise<Response>
}

export type FetchHandler<Rest extends readonly unknown[]> = (request: Request, ...rest: Rest) => Response | Promise<Response>

export interface FetchLimit<Rest extends readonly unknown[]> {
  /**
   * The handler, asked only for what may pass; its answers get the header fields.
   * @throws LimiterError INVALID_OPTIONS for a handler that is no function
   */
  wrap(handler: FetchHandler<Rest>): (request: Request, ...rest: Rest) => Promise<Response>
  /** For a server with an order of its own: the answer to a refused request, or none and a way to add the header fields. */
  check(request: Request, ...rest: Rest): Promise<{ readonly denial?: Response; tell(response: Response): Response }>
}

const READER: RequestReader<Request> = {
  method: ({ method }) => method,
  target: ({ url }) => url,
  // A Headers object has joined what stood on several lines: a value with a comma counts as several.
  headers: ({ headers }) => Object.fromEntries(headers),
}

/**
 * A rate limit for servers that turn a Request into a Response. Both functions reject with what key, cost, skip, address or
 * onDenied threw; never for a failing store.
 * @throws LimiterError INVALID_OPTIONS as every adapter, and without both address and key
 */
export function rateLimit<Rest extends readonly unknown[] = []>(options: FetchOptions<Rest>): FetchLimit<Rest> {
  const gate = createGate(options, READER, 'option')
  const { address, onDenied } = options
  const tell = (response: Response, passage: Passage): Response => {
    const into = ({ headers }: Response): void =>
      gate.applyHeaders(
        { getHeader: (name) => headers.get(name) ?? undefined, setHeader: (name, value) => headers.set(name, value) },
        passage,
      )
    try {
      into(response)
      return response
    } catch (error) {
      // Answers of fetch are immutable; those of an upgrade cannot be copied and go as they are.
      if (!(error instanceof TypeError) || response.status < 200) return response
      const copy = new Response(response.body, response)
      into(copy)
      return copy
    }
  }
  const check: FetchLimit<Rest>['check'] = async (request, ...rest) => {
    const passage = await gate.check(request, address?.(request, ...rest))
    const { decision, answer } = passage
    const bound = { tell: (response: Response) => tell(response, passage) }
    if (decision === undefined || answer === undefined) return bound
    const plain = { status: answer.problem.status, headers: { 'Content-Type': PROBLEM_TYPE } }
    const denial = await (onDenied?.(request, decision, ...rest) ?? new Response(answer.body, plain))
    return { denial: tell(denial, passage), ...bound }
  }
  return {
    check,
    wrap(handler) {
      requireHandler('wrap', handler)
      return async (request, ...rest) => {
        const { denial, tell: told } = await check(request, ...rest)
        return denial ?? told(await handler(request, ...rest))
      }
    },
  }
}
