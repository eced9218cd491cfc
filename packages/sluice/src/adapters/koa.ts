import type { ParameterizedContext } from 'koa'
import type { Decision } from '../decision/decision.ts'
import { createGate, type Passage, type RequestReader } from '../http/gate.ts'
import type { GateOptions } from '../http/gate-options.ts'
import type { HeaderSink } from '../http/headers.ts'
import { type Closable, onRequestClose } from '../http/leaving.ts'
import { withErrors } from '../http/option-errors.ts'
import { PROBLEM_TYPE } from '../http/problem.ts'
import { type EndingResponse, finishAtEnd } from '../http/response-end.ts'
import { handlerOf } from '../http/waiting.ts'
import type { NodeRequest } from './node.ts'

export type { Closable, EndingResponse }

/** For apps that declare their own type of `ctx.state`. */
export interface RateLimitState {
  /** The decision of the last `rateLimit`. Absent if none checked this request (`skip`). */
  rateLimit?: Decision
}

declare module 'koa' {
  interface DefaultState extends RateLimitState {}
}

/** The fields that are used of a Koa context. Not `ctx.ip`: the address comes from the socket and `trustedProxies`. */
export interface KoaContext {
  /** Node's own request. */
  readonly req: NodeRequest
  /** Node's own response. */
  readonly res: EndingResponse & {
    readonly headersSent: boolean
    readonly writableEnded: boolean
    getHeader(name: string): number | string | readonly string[] | undefined
    end(body?: string): unknown
  }
  /** The method as the client sent it. */
  readonly method: string
  /** The target as the client sent it. */
  readonly originalUrl: string
  /** The limit sets it for a refused request. */
  status: number
  /** The limit sets it to the problem body for a refused request. */
  body: unknown
  /** The limit sets its property `rateLimit` to the decision. */
  // oxlint-disable-next-line typescript/no-explicit-any
  state: any
  /** Set to false by code that answers through `res` itself. */
  respond?: boolean | undefined
  /** Sets a field. */
  set(name: string, value: string): unknown
  /** Removes a field. */
  remove(name: string): unknown
}

/** Options of `rateLimit` for Koa. */
export interface KoaOptions<Context extends KoaContext> extends GateOptions<Context, Context> {
  /**
   * Answers a refused request; status and headers are already set. `'wait'`: requests wait for their turn instead (`maxWaitMs`,
   * `maxWaiting`).
   */
  readonly onDenied?: ((context: Context, decision: Decision) => void | Promise<void>) | 'wait' | undefined
}

/** Set by `@koa/router` and koa-mount. */
interface Routed {
  readonly matched?: readonly { readonly path: unknown; readonly methods: readonly string[] }[]
  /** If set, the router knows only the rest of the path. */
  readonly mountPath?: unknown
}

const READER: RequestReader<KoaContext> = {
  method: ({ method }) => method,
  target: ({ originalUrl }) => originalUrl,
  headers: ({ req }) => req.headers,
  rawHeaders: ({ req }) => req.rawHeaders,
  onLeave: ({ req }, leave) => onRequestClose(req, leave),
  route: (context) => {
    const { matched, mountPath } = context as Routed
    if (matched === undefined || mountPath !== undefined) return undefined
    const path = matched.findLast(({ methods }) => methods.includes(context.method))?.path
    return typeof path === 'string' ? path : undefined
  },
}

/**
 * Koa sends nothing to a client that has left, so no end of a response settles the charge. Here the return of the later middleware does.
 */
async function passed(context: KoaContext, next: () => Promise<unknown>, { settle }: Passage): Promise<unknown> {
  if (settle === undefined) return next()
  const { res } = context
  let failed = true
  try {
    const result = await next()
    failed = false
    return result
  } finally {
    if (res.destroyed === true && !res.writableEnded)
      settle(failed ? { status: undefined, whole: true } : { status: context.status, response: context, whole: true })
  }
}

/**
 * A rate limit as Koa middleware. Later handlers find the decision in `ctx.state.rateLimit`. Rejects with errors of the options' functions
 * and for misuse, but never because a store fails.
 */
export function rateLimit<Context extends KoaContext = ParameterizedContext>(
  options: KoaOptions<Context>,
): (context: Context, next: () => Promise<unknown>) => Promise<unknown> {
  const gate = createGate(options, READER)
  const onDenied = handlerOf(options.onDenied)
  return async function rateLimitMiddleware(context, next) {
    const passage = await withErrors(() => gate.check(context, context.req.socket.remoteAddress))
    const { decision, answer, left = false } = passage
    const { res } = context
    if (decision !== undefined) (context.state as RateLimitState).rateLimit = decision
    finishAtEnd(res, passage, context)
    if (left || res.headersSent) {
      if (!left && answer === undefined) return passed(context, next, passage)
      // The response has begun, so its status is final.
      context.respond = false
      if (!res.writableEnded) res.end()
      return undefined
    }
    const sink: HeaderSink = {
      getHeader: (name) => res.getHeader(name),
      setHeader: (name, value) => context.set(name, value),
      removeHeader: (name) => context.remove(name),
    }
    gate.applyHeaders(sink, passage)
    if (decision === undefined || answer === undefined) return passed(context, next, passage)
    context.status = answer.problem.status
    const handedOver = context.respond === false
    if (onDenied !== undefined) {
      // Earlier middleware left the answer to a later handler, which does not run now. So Koa must send what onDenied sets.
      if (handedOver) context.respond = true
      return withErrors(() => onDenied(context, decision))
    }
    context.set('Content-Type', PROBLEM_TYPE)
    if (!handedOver) context.body = answer.body
    else if (!res.writableEnded) res.end(answer.body)
    return undefined
  }
}
