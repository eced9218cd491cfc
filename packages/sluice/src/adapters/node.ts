import type { Decision } from '../decision/decision.ts'
import { createGate, type Passage, type RequestReader } from '../http/gate.ts'
import type { GateOptions } from '../http/gate-options.ts'
import type { HeaderSink } from '../http/headers.ts'
import { PROBLEM_TYPE } from '../http/problem.ts'

/** The fields that are read of node's IncomingMessage; HTTP/2's compatibility requests have them too. */
export interface NodeRequest {
  readonly method?: string | undefined
  readonly url?: string | undefined
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly rawHeaders?: readonly string[] | undefined
  readonly socket: { readonly remoteAddress?: string | undefined }
}

/** The part of node's ServerResponse that is used. */
export interface NodeResponse extends HeaderSink {
  statusCode: number
  readonly headersSent: boolean
  readonly writableEnded?: boolean
  end(body: string): unknown
}

export interface NodeOptions<Request extends NodeRequest, Response extends NodeResponse> extends GateOptions<Request> {
  /** Answers a refused request instead of the problem body; status and headers are already set. */
  readonly onDenied?: (request: Request, response: Response, decision: Decision) => void | Promise<void>
}

const READER: RequestReader<NodeRequest> = {
  method: ({ method }) => method ?? 'GET',
  target: ({ url }) => url ?? '/',
  headers: ({ headers }) => headers,
  rawHeaders: ({ rawHeaders }) => rawHeaders,
}

/** Shared promises, resolved once for all requests. */
const PASSED = Promise.resolve(true)
const REFUSED = Promise.resolve(false)

/**
 * A rate limit in front of a `node:http` handler. Resolves to true if the request may go on. Otherwise it has answered with a problem body:
 * 429, 400 if the target cannot be read, or 503 if the limiter could not decide. A response that was begun meanwhile is ended. Rejects with
 * what key, cost, skip or onDenied threw, without answering.
 * @param reader reads a request that a framework changed
 */
export function rateLimit<Request extends NodeRequest, Response extends NodeResponse>(
  options: NodeOptions<Request, Response>,
  reader: RequestReader<Request> = READER,
): (request: Request, response: Response) => Promise<boolean> {
  const gate = createGate(options, reader)
  const { onDenied } = options
  const finish = (request: Request, response: Response, passage: Passage): Promise<boolean> => {
    const { decision, answer } = passage
    if (response.headersSent) {
      if (answer === undefined) return PASSED
      // The status can no longer be changed. Nobody else would end the response, so end it without waiting for whoever began it.
      if (response.writableEnded !== true) response.end('')
      return REFUSED
    }
    gate.applyHeaders(response, passage)
    if (decision === undefined || answer === undefined) return PASSED
    response.statusCode = answer.problem.status
    if (onDenied !== undefined) return Promise.resolve(onDenied(request, response, decision)).then(() => false)
    response.setHeader('Content-Type', PROBLEM_TYPE)
    response.end(answer.body)
    return REFUSED
  }
  return (request, response) => {
    try {
      const passage = gate.check(request, request.socket.remoteAddress)
      return passage instanceof Promise ? passage.then((one) => finish(request, response, one)) : finish(request, response, passage)
    } catch (error) {
      return Promise.reject(error)
    }
  }
}
