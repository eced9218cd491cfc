import type { Decision } from '../decision/decision.ts'
import { createGate, type GateOptions, type RequestReader } from '../http/gate.ts'
import type { HeaderSink } from '../http/headers.ts'
import { PROBLEM_TYPE } from '../http/problem.ts'

/** The part of node's IncomingMessage that is read; also what HTTP/2 gives its compatible handlers. */
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
  /** Answers a refused request instead of the problem body; status and headers are already set. */
  readonly onDenied?: (request: Request, response: Response, decision: Decision) => void | Promise<void>
}

const READER: RequestReader<NodeRequest> = {
  method: ({ method }) => method ?? 'GET',
  target: ({ url }) => url ?? '/',
  headers: ({ headers }) => headers,
}

/**
 * A rate limit in front of a `node:http` handler: resolves to true where the request may go on; otherwise it has been
 * answered with 429, or 503 where the limiter could not decide, and a problem body. Rejects, with nothing answered, with what
 * key, cost, skip or onDenied threw.
 * @param reader reads the request where a framework changed it
 */
export function rateLimit<Request extends NodeRequest, Response extends NodeResponse>(
  options: NodeOptions<Request, Response>,
  reader: RequestReader<Request> = READER,
): (request: Request, response: Response) => Promise<boolean> {
  const gate = createGate(options, reader)
  const { onDenied } = options
  return async (request, response) => {
    const passage = await gate.ask(request, request.socket.remoteAddress)
    if (response.headersSent) return passage.passed
    gate.tell(response, passage)
    const { decision, problem } = passage
    if (decision === undefined || problem === undefined) return true
    response.statusCode = problem.status
    if (onDenied === undefined) {
      response.setHeader('Content-Type', PROBLEM_TYPE)
      response.end(`${JSON.stringify(problem)}\n`)
    } else await onDenied(request, response, decision)
    return false
  }
}
