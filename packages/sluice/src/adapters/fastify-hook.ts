import type * as framework from 'fastify'
import type { Decision } from '../decision/decision.ts'
import { LimiterError } from '../errors/limiter-error.ts'
import { createGate, type RequestReader } from '../http/gate.ts'
import type { GateOptions } from '../http/gate-options.ts'
import { type Closable, onRequestClose } from '../http/leaving.ts'
import { PROBLEM_TYPE } from '../http/problem.ts'
import { type EndingResponse, finishAtEnd } from '../http/response-end.ts'
import { handlerOf } from '../http/waiting.ts'

declare module 'fastify' {
  // oxlint-disable-next-line no-shadow -- Fastify's own interface, by its name
  interface FastifyRequest {
    /** The decision of the last `rateLimit` (`sluice/fastify`). Absent if none checked this request (`skip`). */
    rateLimit?: Decision
  }
}

/** The fields that are read of a Fastify request. Not `ip`: the address comes from the socket and `trustedProxies`. */
export interface FastifyRequest {
  /** The method as the client sent it. */
  readonly method: string
  /** The request target as sent. */
  readonly url: string
  /** Fields by lower-case name. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  /** Node's own request. */
  readonly raw: {
    readonly rawHeaders?: readonly string[] | undefined
    readonly socket: { readonly remoteAddress?: string | undefined } & Closable
    /** The stream of an HTTP/2 request. */
    readonly stream?: Closable
  }
  /** The matched route: its url for metrics, its config for the plugin. */
  readonly routeOptions?: { readonly url?: string | undefined; readonly config?: { readonly rateLimit?: unknown } }
  /** The route's scope. */
  readonly server?: { hasRequestDecorator(name: string): boolean }
}

/** The fields that are used of a Fastify reply. */
export interface FastifyReply {
  /** Whether the reply was sent, or taken over by other code. */
  readonly sent: boolean
  /** Node's own response. */
  readonly raw: EndingResponse & { readonly headersSent: boolean; end(): unknown }
  /** Undefined if the field is not set. */
  getHeader(name: string): number | string | readonly string[] | undefined
  /** Sets a field. */
  header(name: string, value: string): unknown
  /** Removes a field. */
  removeHeader(name: string): unknown
  /** Sets the status. */
  code(status: number): unknown
  /** Stops Fastify from sending the reply. */
  hijack(): unknown
  /** Sends the reply. */
  send(payload?: unknown): unknown
}

/** Options of `rateLimit` for Fastify. */
export interface FastifyOptions<Request, Reply> extends GateOptions<Request, Reply> {
  /**
   * Answers a refused request; status and headers are already set. Fastify sends what the function resolves with. `'wait'`: requests wait
   * for their turn instead (`maxWaitMs`, `maxWaiting`).
   */
  readonly onDenied?: ((request: Request, reply: Reply, decision: Decision) => unknown) | 'wait' | undefined
}

/** Resolves to undefined if the request may go on, and to the reply if it was answered. */
export type FastifyHook<Request = FastifyRequest, Reply = FastifyReply> = (request: Request, reply: Reply) => Promise<unknown>

/** Is `FastifyHook`. From the branch for `never`, TypeScript infers the route, and so the request type of `key` and the other functions. */
export type InferredHook<Route extends framework.RouteGenericInterface> = [Route] extends [never]
  ? FastifyHook<framework.FastifyRequest<Route>, framework.FastifyReply<Route>>
  : FastifyHook

const READER: RequestReader<FastifyRequest> = {
  method: ({ method }) => method,
  target: ({ url }) => url,
  headers: ({ headers }) => headers,
  rawHeaders: ({ raw }) => raw.rawHeaders,
  onLeave: ({ raw }, leave) => onRequestClose(raw, leave),
  route: ({ routeOptions }) => routeOptions?.url,
}

/** The request property in which handlers find the decision. */
export const DECORATOR = 'rateLimit'

/**
 * A rate limit as a Fastify hook: `onRequest` or, if a key needs the body, `preHandler`. Later handlers find the decision in
 * `request.rateLimit`. Rejects with errors of the options' functions, but never because a store fails. A route's `config.rateLimit` is an
 * error without `rateLimitPlugin`.
 */
export function rateLimit<Route extends framework.RouteGenericInterface = framework.RouteGenericInterface>(
  options: FastifyOptions<framework.FastifyRequest<Route>, framework.FastifyReply<Route>>,
): InferredHook<Route> {
  const limit = limitOf(options)
  const hook: FastifyHook = async (request, reply) => {
    if (configOf(request) !== undefined && request.server?.hasRequestDecorator(DECORATOR) !== true)
      throw new LimiterError(
        'INVALID_OPTIONS',
        `rateLimit: config.rateLimit of the route ${request.routeOptions?.url} needs rateLimitPlugin`,
      )
    return limit(request, reply)
  }
  return hook
}

export function configOf({ routeOptions }: FastifyRequest): unknown {
  return routeOptions?.config?.rateLimit
}

/** Resolves to the reply if the request was answered, otherwise to undefined. */
export function limitOf<Route extends framework.RouteGenericInterface>(
  options: FastifyOptions<framework.FastifyRequest<Route>, framework.FastifyReply<Route>>,
): FastifyHook {
  const gate = createGate(options as GateOptions<FastifyRequest, FastifyReply>, READER)
  const onDenied = handlerOf((options as FastifyOptions<FastifyRequest, FastifyReply>).onDenied)
  return async (request, reply) => {
    const passage = await gate.check(request, request.raw.socket.remoteAddress)
    const { decision, answer, left = false } = passage
    if (decision !== undefined) (request as { rateLimit?: Decision }).rateLimit = decision
    finishAtEnd(reply.raw, passage, reply)
    if (reply.sent) return reply
    if (left || reply.raw.headersSent) {
      if (!left && answer === undefined) return undefined
      // No denial can be sent: the client has left, or other code has begun the response, and might not end it.
      reply.hijack()
      reply.raw.end()
      return reply
    }
    const setHeader = (name: string, value: string): unknown => reply.header(name, value)
    const removeHeader = (name: string): unknown => reply.removeHeader(name)
    gate.applyHeaders({ getHeader: (name) => reply.getHeader(name), setHeader, removeHeader }, passage)
    if (decision === undefined || answer === undefined) return undefined
    reply.code(answer.problem.status)
    if (onDenied === undefined) {
      reply.header('Content-Type', PROBLEM_TYPE)
      reply.send(answer.body)
    } else {
      const payload = await onDenied(request, reply, decision)
      if (!reply.sent) reply.send(payload)
    }
    return reply
  }
}
