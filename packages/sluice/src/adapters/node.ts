import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Decision } from '../decision/decision.ts'
import { createGate, type Passage, type RequestReader } from '../http/gate.ts'
import type { GateOptions } from '../http/gate-options.ts'
import type { HeaderSink } from '../http/headers.ts'
import { type Closable, onRequestClose } from '../http/leaving.ts'
import { PROBLEM_TYPE } from '../http/problem.ts'
import { type EndingResponse, finishAtEnd } from '../http/response-end.ts'
import { handlerOf } from '../http/waiting.ts'

export type { Closable, EndingResponse }

/** The fields that are read of node's IncomingMessage. HTTP/2 requests have them too. */
export interface NodeRequest {
  /** As the client sent it; undefined counts as GET. */
  readonly method?: string | undefined
  /** The request target as sent. */
  readonly url?: string | undefined
  /** Fields by lower-case name, as node joins them. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  /** Alternating names and values, which show repeated lines. */
  readonly rawHeaders?: readonly string[] | undefined
  /** The connection: the client's address, and whether the client has left. */
  readonly socket: { readonly remoteAddress?: string | undefined } & Closable
  /** An HTTP/2 stream, which closes before its connection does. */
  readonly stream?: Closable
}

/** The fields that are used of node's ServerResponse. */
export interface NodeResponse extends HeaderSink, EndingResponse {
  /** The limit sets it for a refused request. */
  statusCode: number
  /** Whether it is too late to add a field. */
  readonly headersSent: boolean
  /** Whether the response was ended. */
  readonly writableEnded?: boolean
  /** Ends the response. */
  end(body: string): unknown
}

/** For the type of handlers: `(request: IncomingMessage & RateLimited, response) => ...`. */
export interface RateLimited {
  /** The decision of the last `rateLimit`. Absent if none checked this request (`skip`). */
  rateLimit?: Decision
}

/** Options of `rateLimit` for `node:http` and Express. */
export interface NodeOptions<Request extends NodeRequest, Response extends NodeResponse> extends GateOptions<Request, Response> {
  /**
   * Answers a refused request; status and headers are already set. `'wait'`: requests wait for their turn instead (`maxWaitMs`,
   * `maxWaiting`).
   */
  readonly onDenied?: ((request: Request, response: Response, decision: Decision) => void | Promise<void>) | 'wait' | undefined
}

const READER: RequestReader<NodeRequest> = {
  method: ({ method }) => method ?? 'GET',
  target: ({ url }) => url ?? '/',
  headers: ({ headers }) => headers,
  rawHeaders: ({ rawHeaders }) => rawHeaders,
  onLeave: onRequestClose,
}

/** Shared, so that a request creates no promise for its result. */
const PASSED = Promise.resolve(true)
const REFUSED = Promise.resolve(false)

/**
 * A rate limit in front of a `node:http` handler. Resolves to true if the request may go on, and to false if it was answered: 429, 400 for
 * a target that cannot be read, or 503 if the limiter could not decide. Rejects with the errors of the options' functions, without
 * answering. Sets `request.rateLimit` to the decision.
 * @param reader reads requests, for a framework that changes their fields
 */
export function rateLimit<Request extends NodeRequest = IncomingMessage & RateLimited, Response extends NodeResponse = ServerResponse>(
  options: NodeOptions<Request, Response>,
  reader: RequestReader<Request> = READER,
): (request: Request, response: Response) => Promise<boolean> {
  const gate = createGate(options, reader)
  const onDenied = handlerOf(options.onDenied)
  const finish = (request: Request, response: Response, passage: Passage): Promise<boolean> => {
    const { decision, answer, left = false } = passage
    if (decision !== undefined) (request as RateLimited).rateLimit = decision
    finishAtEnd(response, passage, response)
    if (left || response.headersSent) {
      if (!left && answer === undefined) return PASSED
      // The response has begun, so its status is final. Its end is not left to the code that began it.
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
      if (passage instanceof Promise) return passage.then((one) => finish(request, response, one))
      return finish(request, response, passage)
    } catch (error) {
      return Promise.reject(error)
    }
  }
}
