import type { Decision } from '../decision/decision.ts'
import { createGate, type GateOptions } from '../http/gate.ts'
import { type HeaderSink, mergeHeaders } from '../http/merge.ts'
import { PROBLEM_TYPE } from '../http/problem.ts'

/** The part of node's IncomingMessage that is read. */
export interface NodeRequest {
  readonly method?: string | undefined
  readonly url?: string | undefined
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly socket: { readonly remoteAddress?: string | undefined }
}

/** The part of node's ServerResponse that is written. */
export interface NodeResponse extends HeaderSink {
  statusCode: number
  readonly headersSent: boolean
  end(body?: string): unknown
}

export interface NodeOptions<Request extends NodeRequest, Response extends NodeResponse> extends GateOptions<Request> {
  /** Answers a refused request instead of the problem body; headers are already set. */
  readonly onDenied?: (request: Request, response: Response, decision: Decision) => void | Promise<void>
}

/**
 * A rate limit in front of a `node:http` handler: resolves to true where the request may go on; otherwise it has been
 * answered with 429, or 503 where the limiter could not decide, and a problem body.
 */
export function rateLimit<Request extends NodeRequest, Response extends NodeResponse>(
  options: NodeOptions<Request, Response>,
): (request: Request, response: Response, target?: string) => Promise<boolean> {
  const gate = createGate(options)
  return async (request, response, target = request.url ?? '/') => {
    const ip = request.socket.remoteAddress
    const facts = { method: request.method ?? 'GET', path: target, headers: request.headers, ...(ip === undefined ? {} : { ip }) }
    const { passed, headers, decision, problem } = await gate(request, facts)
    if (response.headersSent) return passed
    mergeHeaders(response, headers, !passed)
    if (passed || decision === undefined || problem === undefined) return true
    response.statusCode = problem.status
    if (options.onDenied === undefined) {
      response.setHeader('Content-Type', PROBLEM_TYPE)
      response.end(`${JSON.stringify(problem)}\n`)
    } else await options.onDenied(request, response, decision)
    return false
  }
}
