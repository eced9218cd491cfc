import type { Context, Env, Input, MiddlewareHandler } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { Decision } from '../decision/decision.ts'
import { createGate, type RequestReader } from '../http/gate.ts'
import { type GateOptions, requireAddress, requireResponse } from '../http/gate-options.ts'
import type { HeaderSink } from '../http/headers.ts'
import { onAborted } from '../http/leaving.ts'
import { PROBLEM_TYPE } from '../http/problem.ts'
import { releaseOnAbort } from '../http/response-end.ts'
import { handlerOf, leftResponse } from '../http/waiting.ts'
import { finishWithResponse } from './hono-response.ts'

declare module 'hono' {
  interface ContextVariableMap {
    /** The decision of the last `rateLimit` that checked this request; undefined if none has checked it, for example because of `skip`. */
    rateLimit: Decision | undefined
  }
}

/** Hono's context on a route whose parameters are not known here: `c.req.param('id')` is a text, as on the route itself. */
export type HonoContext<E extends Env, I extends Input> = Context<E, `/:${string}`, I>

/** Options of `rateLimit` for Hono, in the types of the app. */
// `any` by default, as in the types of Hono for middleware that may be used in every app.
// oxlint-disable-next-line typescript/no-explicit-any
export interface HonoOptions<E extends Env = any, I extends Input = {}> extends GateOptions<HonoContext<E, I>, HonoContext<E, I>> {
  /**
   * The address of the peer, which a Request does not contain. It must come from the platform, never from a header:
   * `(c) => getConnInfo(c).remote.address`, with the `getConnInfo` of the platform. Forwarding headers are read in addition if
   * `trustedProxies` trusts the peer. All requests for which it returns undefined share one key. Required, unless there is a `key`.
   */
  readonly address?: (context: HonoContext<E, I>) => string | undefined
  /**
   * Answers a refused request instead of the problem body; status and headers of the context are already set. `'wait'`: requests wait for
   * their turn, and only those that would wait too long (`maxWaitMs`) or find too many others waiting (`maxWaiting`) are refused.
   */
  readonly onDenied?: ((context: HonoContext<E, I>, decision: Decision) => Response | Promise<Response>) | 'wait'
}

const READER: RequestReader<Context> = {
  method: ({ req }) => req.method,
  target: ({ req }) => req.url,
  // A Headers object joins repeated lines of a field with commas. So a field with a comma in its value counts as sent on several lines.
  headers: ({ req }) => req.header(),
  route: ({ req }) => routeOf(req),
  onLeave: ({ req }, leave) => onAborted(req.raw, leave),
}

/** The header fields that `rateLimit` has set so far on requests without a response. A later `rateLimit` on the same request reads them. */
const WRITTEN = new WeakMap<Context, Map<string, string>>()

function writtenOn(context: Context): Map<string, string> {
  const before = WRITTEN.get(context)
  if (before !== undefined) return before
  const fresh = new Map<string, string>()
  WRITTEN.set(context, fresh)
  return fresh
}

/** Adds the fields to a response that a handler made without the context, because Hono does not add them to such a response. */
function addMissing(context: Context, fields: readonly (readonly [string, string])[]): undefined {
  const [first] = fields
  if (first === undefined || !context.finalized || context.res.headers.has(first[0])) return
  for (const [name, value] of fields) context.header(name, value)
}

interface RoutedRequest {
  readonly matchedRoutes?: readonly { readonly path: string }[]
}

/** The pattern of the handler, which is the last of the matched routes. Patterns that end with a wildcard are those of middleware. */
function routeOf({ matchedRoutes }: RoutedRequest): string | undefined {
  const path = matchedRoutes?.at(-1)?.path
  return path === undefined || path.endsWith('*') ? undefined : path
}

/**
 * A rate limit as Hono middleware, for an app or one route. `c.get('rateLimit')` returns the decision in the handler. Errors of key, cost,
 * skip, address or onDenied, and misuse such as an invalid cost, go to `app.onError`. A failure of the store never does.
 * @throws LimiterError INVALID_OPTIONS for options that every adapter refuses, and if both `address` and `key` are absent
 */
// oxlint-disable-next-line typescript/no-explicit-any
export function rateLimit<E extends Env = any, I extends Input = {}>(options: HonoOptions<E, I>): MiddlewareHandler<E, string, I> {
  const gate = createGate(options as unknown as GateOptions<Context, Context>, READER, 'option')
  const { address } = options
  const onDenied = handlerOf(options.onDenied)
  return async function rateLimitMiddleware(context, next) {
    const c: Context = context
    const passage = await gate.check(c, requireAddress(address?.(context)))
    const { decision, answer, left } = passage
    if (left === true) return leftResponse()
    if (decision !== undefined) c.set('rateLimit', decision)
    // Hono adds fields that are set on the context now to responses that `c.text` and similar methods make later, also in an error handler.
    const fields: [string, string][] = []
    const written = writtenOn(c)
    const sink: HeaderSink = {
      // Reading `c.res` before there is a response would make a response, which takes more time than the rest of the limit.
      getHeader: (name) => (c.finalized ? (c.res.headers.get(name) ?? undefined) : written.get(name)),
      setHeader: (name, value) => {
        fields.push([name, value])
        written.set(name, value)
        c.header(name, value)
      },
    }
    gate.applyHeaders(sink, passage)
    if (decision === undefined || answer === undefined) {
      const { release, settle } = passage
      if (release === undefined && settle === undefined) {
        await next()
        return addMissing(c, fields)
      }
      releaseOnAbort(passage, c.req.raw)
      try {
        await next()
        addMissing(c, fields)
        finishWithResponse(c, passage)
        return undefined
      } catch (error) {
        release?.()
        settle?.({ status: undefined, whole: true })
        throw error
      }
    }
    passage.release?.()
    const status = answer.problem.status as ContentfulStatusCode
    c.status(status)
    // The status is passed as an argument too, because Hono 4.0 answers with status 200 if headers are passed without a status.
    const denial =
      onDenied === undefined ? c.body(answer.body, status, { 'Content-Type': PROBLEM_TYPE }) : await onDenied(context, decision)
    requireResponse('what onDenied returned', denial)
    if (!c.finalized) return denial
    // Removes a response that an outer middleware made before it called `next`. Hono would otherwise keep it in place of the denial.
    c.res = undefined
    // The removed response had the fields of this limit. Hono copies the fields of the following empty response to the denial, which may be
    // a response of onDenied.
    c.res = new Response(null, { headers: fields })
    c.res = denial
    return undefined
  }
}
