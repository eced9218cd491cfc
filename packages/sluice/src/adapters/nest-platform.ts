import type { Decision } from '../decision/decision.ts'
import type { RequestReader } from '../http/gate.ts'
import type { HeaderSink } from '../http/headers.ts'
import type { EndingResponse } from '../http/response-end.ts'
import { type Closable, onRequestClose } from '../http/leaving.ts'

/**
 * What requests of Nest's Express and Fastify platforms have in common. A `key` that needs more declares its parameter with the platform's
 * type.
 */
export interface NestRequest {
  /** The request's method. */
  readonly method: string
  /** The target; Nest's middleware may have shortened it. */
  readonly url: string
  /** The target as the client sent it. */
  readonly originalUrl: string
  /** Fields by lower-case name. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  /** Of the route. */
  readonly params: Readonly<Record<string, string>>
  /** Of the URL. */
  readonly query: Readonly<Record<string, unknown>>
  /** Undefined before a body was parsed; Nest parses before guards. */
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any
  /** What an authentication guard has set. */
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly user?: any
  /** Absent before the guard has run, and if the request was skipped. */
  readonly rateLimit?: Decision
}

/** What responses of Nest's Express and Fastify platforms have in common. */
export interface NestResponse {
  /** The response's status. */
  readonly statusCode: number
  /** Undefined if the field is not set. */
  getHeader(name: string): number | string | readonly string[] | undefined
}

/** A request of Express is Node's own. A request of Fastify has Node's as `raw`. */
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

export const rawRequest = (request: PlatformRequest): RawRequest => request.raw ?? (request as unknown as RawRequest)
export const rawResponse = (response: PlatformResponse): RawResponse => response.raw ?? (response as unknown as RawResponse)

export const READER: RequestReader<PlatformRequest> = {
  method: ({ method }) => method,
  target: ({ originalUrl }) => originalUrl,
  headers: ({ headers }) => headers,
  rawHeaders: (request) => rawRequest(request).rawHeaders,
  onLeave: (request, leave) => onRequestClose(rawRequest(request), leave),
  route: ({ route, routeOptions }) => (typeof route?.path === 'string' ? route.path : routeOptions?.url),
}

export function sinkOf(response: PlatformResponse): HeaderSink {
  if (response.raw === undefined) return response
  return {
    getHeader: (name) => response.getHeader(name),
    setHeader: (name, value) => response.header(name, value),
    removeHeader: (name) => response.removeHeader?.(name),
  }
}
