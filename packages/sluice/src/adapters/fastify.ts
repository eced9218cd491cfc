import type { Decision } from '../decision/decision.ts'
import { createGate, type RequestReader } from '../http/gate.ts'
import type { GateOptions } from '../http/gate-options.ts'
import { PROBLEM_TYPE } from '../http/problem.ts'

/** The fields that are read of a Fastify request. `ip` is not: the address comes from the socket and `trustedProxies`. */
export interface FastifyRequest {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly raw: {
    readonly rawHeaders?: readonly string[] | undefined
    readonly socket: { readonly remoteAddress?: string | undefined }
  }
  readonly routeOptions?: { readonly url?: string | undefined }
}

/** The part of a Fastify reply that is used. */
export interface FastifyReply {
  readonly sent: boolean
  getHeader(name: string): number | string | readonly string[] | undefined
  header(name: string, value: string): unknown
  code(status: number): unknown
  send(payload?: unknown): unknown
}

export interface FastifyOptions<Request extends FastifyRequest, Reply extends FastifyReply> extends GateOptions<Request> {
  /** Answers a refused request instead of the problem body; status and headers are already set. Its resolved value is sent. */
  readonly onDenied?: (request: Request, reply: Reply, decision: Decision) => unknown
}

const READER: RequestReader<FastifyRequest> = {
  method: ({ method }) => method,
  target: ({ url }) => url,
  headers: ({ headers }) => headers,
  rawHeaders: ({ raw }) => raw.rawHeaders,
  route: ({ routeOptions }) => routeOptions?.url,
}

/**
 * A rate limit as a Fastify hook: `app.addHook('onRequest', rateLimit(options))` for an app or a plugin's scope, `{ onRequest: ... }` for
 * one route, `preHandler` if a key needs the body. It answers a refused request with a problem body before the body is read. Rejects with
 * what key, cost, skip or onDenied threw, so that Fastify's error handler answers. Never rejects because a store fails.
 */
export function rateLimit<Request extends FastifyRequest = FastifyRequest, Reply extends FastifyReply = FastifyReply>(
  options: FastifyOptions<Request, Reply>,
): (request: NoInfer<Request>, reply: NoInfer<Reply>) => Promise<unknown> {
  const gate = createGate(options, READER)
  const { onDenied } = options
  return async function rateLimitHook(request, reply) {
    const passage = await gate.check(request, request.raw.socket.remoteAddress)
    if (reply.sent) return reply
    gate.applyHeaders({ getHeader: (name) => reply.getHeader(name), setHeader: (name, value) => reply.header(name, value) }, passage)
    const { decision, answer } = passage
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
