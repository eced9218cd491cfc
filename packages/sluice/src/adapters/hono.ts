import type { Context, Env, Input, MiddlewareHandler } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { Decision } from '../decision/decision.ts'
import { createGate, type RequestReader } from '../http/gate.ts'
import { type GateOptions, requireAddress, requireResponse } from '../http/gate-options.ts'
import type { HeaderSink } from '../http/headers.ts'
import { withHost } from '../http/host-of-url.ts'
import { onAborted } from '../http/leaving.ts'
import { instanceOfError, withErrors } from '../http/option-errors.ts'
import { PROBLEM_TYPE } from '../http/problem.ts'
import { releaseOnAbort } from '../http/response-end.ts'
import { handlerOf, leftResponse } from '../http/waiting.ts'
import { finishWithResponse } from './hono-response.ts'

declare module 'hono' {
  interface ContextVariableMap {
    /** The decision of the last `rateLimit`. Undefined if none checked this request (`skip`). */
    rateLimit: Decision | undefined
  }
}

/** Hono's context on any route: `c.req.param('id')` is a text, as on the route itself. */
export type HonoContext<E extends Env, I extends Input> = Context<E, `/:${string}`, I>

/** Options of `rateLimit` for Hono. */
// As in Hono's own types for middleware of any app.
// oxlint-disable-next-line typescript/no-explicit-any
export interface HonoOptions<E extends Env = any, I extends Input = {}> extends GateOptions<HonoContext<E, I>, HonoContext<E, I>> {
  /**
   * The client's address from the platform, such as `getConnInfo(c).remote.address`, never from a header, which can be forged. Requests
   * without an address share one key. Required without `key`.
   */
  readonly address?: ((context: HonoContext<E, I>) => string | undefined) | undefined
  /**
   * Answers a refused request; status and headers of the context are already set. A response made without the context gets the limit's
   * fields that it lacks. `'wait'`: requests wait for their turn instead (`maxWaitMs`, `maxWaiting`).
   */
  readonly onDenied?: ((context: HonoContext<E, I>, decision: Decision) => Response | Promise<Response>) | 'wait' | undefined
}

const READER: RequestReader<Context> = {
  method: ({ req }) => req.method,
  target: ({ req }) => req.url,
  // A Headers object joins repeated lines with commas, so a comma in a value counts as a second line.
  headers: ({ req }) => withHost(req.header(), req.url),
  route: ({ req }) => routeOf(req),
  onLeave: ({ req }, leave) => onAborted(req.raw, leave),
}

/** Response fields that earlier limits have set. Later limits merge them if the context has no response yet. */
const WRITTEN = new WeakMap<Context, Map<string, string>>()

function writtenOn(context: Context): Map<string, string> {
  const before = WRITTEN.get(context)
  if (before !== undefined) return before
  const fresh = new Map<string, string>()
  WRITTEN.set(context, fresh)
  return fresh
}

/** @param fields gets what is set */
function sinkOf(c: Context, fields: [string, string][]): HeaderSink {
  const written = writtenOn(c)
  return {
    // Reading `c.res` too early makes a response, which costs more than the rest of the limit.
    getHeader: (name) => (c.finalized ? (c.res.headers.get(name) ?? undefined) : written.get(name)),
    setHeader: (name, value) => {
      fields.push([name, value])
      written.set(name, value)
      c.header(name, value)
    },
    removeHeader: (name) => {
      written.delete(name)
      c.header(name, undefined)
    },
  }
}

/**
 * Hono does not add the context's fields to a response that a handler made without the context. The innermost limit adds those of all
 * limits, as merged: outer limits cannot know which of their own fields it removed.
 */
function addMissing(context: Context, fields: readonly (readonly [string, string])[]): undefined {
  const [first] = fields
  if (first === undefined || !context.finalized || context.res.headers.has(first[0])) return
  for (const [name, value] of writtenOn(context)) context.header(name, value)
}

/** Hono adds the context's fields only to responses of the context. A response of onDenied may lack them, and keeps what it has. */
function withFields(denial: Response, fields: readonly (readonly [string, string])[]): Response {
  const missing = fields.filter(([name]) => !denial.headers.has(name))
  if (missing.length === 0) return denial
  // A copy, because the response may be shared or immutable.
  const copy = new Response(denial.body, denial)
  for (const [name, value] of missing) copy.headers.set(name, value)
  return copy
}

interface RoutedRequest {
  readonly matchedRoutes?: readonly { readonly path: string }[]
}

/** The last matched route is the handler's. A wildcard at the end is that of a middleware. */
function routeOf({ matchedRoutes }: RoutedRequest): string | undefined {
  const path = matchedRoutes?.at(-1)?.path
  return path === undefined || path.endsWith('*') ? undefined : path
}

/**
 * A rate limit as Hono middleware. Later handlers find the decision with `c.get('rateLimit')`. Errors of the options' functions, and
 * misuse, go to `app.onError`. Failures of the store do not.
 * @throws LimiterError INVALID_OPTIONS, also if `address` and `key` are both absent
 */
// oxlint-disable-next-line typescript/no-explicit-any
export function rateLimit<E extends Env = any, I extends Input = {}>(options: HonoOptions<E, I>): MiddlewareHandler<E, string, I> {
  const gate = createGate(options as unknown as GateOptions<Context, Context>, READER, 'option')
  const { address } = options
  const onDenied = handlerOf(options.onDenied)
  return async function rateLimitMiddleware(context, next) {
    const c: Context = context
    const passage = await withErrors(() => gate.check(c, requireAddress(address?.(context))), instanceOfError)
    const { decision, answer, left } = passage
    if (left === true) return leftResponse()
    if (decision !== undefined) c.set('rateLimit', decision)
    // Hono adds the context's fields to later responses of `c.text` and similar methods, even in an error handler.
    const fields: [string, string][] = []
    gate.applyHeaders(sinkOf(c, fields), passage)
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
    // If headers are passed without a status, Hono 4.0 answers 200.
    const denial =
      onDenied === undefined
        ? c.body(answer.body, status, { 'Content-Type': PROBLEM_TYPE })
        : await withErrors(() => onDenied(context, decision), instanceOfError)
    requireResponse('what onDenied returned', denial)
    if (!c.finalized) return withFields(denial, fields)
    // Removes a response that an outer middleware made before `next`. Hono would keep it in place of the denial.
    c.res = undefined
    // Hono copies the fields of this empty response to the denial, which may lack them if it is a response of onDenied.
    c.res = new Response(null, { headers: fields })
    c.res = denial
    return undefined
  }
}
