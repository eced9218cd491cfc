import type { Decision } from '../decision/decision.ts'
import type { RequestReader } from '../http/gate.ts'
import type { HeaderSink } from '../http/headers.ts'
import type { EndingResponse } from '../http/response-end.ts'
import { type Closable, onRequestClose } from '../http/leaving.ts'

/**
 * The fields that requests of Nest's Express and Fastify platforms have in common. To use more of them in a `key`, declare its parameter
 * with the type of your platform's request.
 */
export interface NestRequest {
  /** The method of the request. */
  readonly method: string
  /** The request target; Nest's middleware may have shortened it. */
  readonly url: string
  /** The request target as the client sent it. */
  readonly originalUrl: string
  /** The header fields, by names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  /** The parameters of the route. */
  readonly params: Readonly<Record<string, string>>
  /** The parameters of the query. */
  readonly query: Readonly<Record<string, unknown>>
  /** Undefined before a body was parsed. Nest parses bodies before guards. */
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any
  /** The user that an authentication guard has set before; undefined without such a guard. */
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly user?: any
  /** The decision of the rate limit that this request passed; absent before the guard has run, and if the request was skipped. */
  readonly rateLimit?: Decision
}

/**
 * The fields that responses of Nest's Express and Fastify platforms have in common. To use more in `countWhen`, declare its parameter
 * with the type of your platform's response.
 */
export interface NestResponse {
  /** The status of the response. */
  readonly statusCode: number
  /** A header field's value; undefined if the field is not set. */
  getHeader(name: string): number | string | readonly string[] | undefined
}

/**
 * The request of either platform. A request of Express is that of Node.js itself; a request of Fastify contains that of Node.js as `raw`.
 */
export interface PlatformRequest extends NestRequest {
  readonly raw?: RawRequest
  readonly route?: { readonly path?: unknown }
  readonly routeOptions?: { readonly url?: string }
}

interface RawRequest {
  readonly rawHeaders?: readonly string[]
  readonly socket: { readonly remoteAddress?: string | undefined } & Closable
  readonly stream?: Closable
}

/** A response of Express is that of Node.js itself. A reply of Fastify has that response as `raw`, and methods of its own. */
export interface PlatformResponse extends HeaderSink {
  readonly raw?: RawResponse
  header(name: string, value: string): unknown
  status(status: number): unknown
  send(body: string): unknown
}

interface RawResponse extends EndingResponse {
  readonly headersSent: boolean
  readonly writableEnded: boolean
  end(): unknown
}

/** Node's request. */
export const rawRequest = (request: PlatformRequest): RawRequest => request.raw ?? (request as unknown as RawRequest)
/** Node's response. */
export const rawResponse = (response: PlatformResponse): RawResponse => response.raw ?? (response as unknown as RawResponse)

export const READER: RequestReader<PlatformRequest> = {
  method: ({ method }) => method,
  target: ({ originalUrl }) => originalUrl,
  headers: ({ headers }) => headers,
  rawHeaders: (request) => rawRequest(request).rawHeaders,
  onLeave: (request, leave) => onRequestClose(rawRequest(request), leave),
  route: ({ route, routeOptions }) => (typeof route?.path === 'string' ? route.path : routeOptions?.url),
}

/** The header fields of a response, by the names of node's methods. */
export function sinkOf(response: PlatformResponse): HeaderSink {
  if (response.raw === undefined) return response
  return { getHeader: (name) => response.getHeader(name), setHeader: (name, value) => response.header(name, value) }
}
