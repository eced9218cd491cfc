import type { IncomingMessage, ServerResponse } from 'node:http'
import { normalizePath } from 'sluice/policy'
import { Refusal } from './answer.ts'

/** A request with its parsed target. */
export interface Routed {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** The path, normalized in the same way as for matching rules. */
  readonly path: string
  /** The part of the path after the route's own path, with the leading slash; empty if nothing follows. */
  readonly rest: string
  readonly query: URLSearchParams
}

export type Handler = (routed: Routed) => Promise<void> | void

/** Handlers by method; HEAD uses the handler of GET. A single handler takes every method. */
export type Route = Handler | Readonly<Partial<Record<'GET' | 'POST' | 'PUT' | 'DELETE', Handler>>>

export interface Routes {
  /** Routes by their whole path. */
  readonly exact: ReadonlyMap<string, Route>
  /** Routes by a prefix of the path; a slash must follow the prefix. */
  readonly below: ReadonlyMap<string, Route>
  /**
   * As `below`, for paths whose segment after the prefix is encoded dots (`%2E`, `%2E%2E`). Here that segment is a name, not a dot segment.
   */
  readonly dots: ReadonlyMap<string, Route>
  /** The handler of every other path. */
  readonly other: Handler
}

/** Health endpoints: they answer probes even while all other requests are refused. */
export const HEALTH: ReadonlySet<string> = new Set(['/livez', '/readyz'])
const NO_QUERY = new URLSearchParams()

/**
 * Answers a request by its route. Routing uses the same normalized path as limits do: a difference would let clients evade limits.
 * @throws Refusal 405 with Allow for a method that the path does not have
 */
export function route(routes: Routes, request: IncomingMessage, response: ServerResponse): Promise<void> | void {
  const { url = '/' } = request
  // The URL is looked up as it is first: most requests have a normalized path and no query.
  const straight = routes.exact.get(url)
  if (straight !== undefined) return answer(straight, { request, response, path: url, rest: '', query: NO_QUERY })
  const [, above = '', dots = '', more = ''] = /^([^?#%]*)\/((?:%2e){1,2})(\/[^?#]*)?(?=[?#]|$)/i.exec(url) ?? []
  const path = normalizePath(url)
  const routed = { request, response, path, rest: '', query: new URLSearchParams(/\?([^#]*)/.exec(url)?.[1]) }
  const named = routes.dots.get(above)
  if (named !== undefined) return answer(named, { ...routed, rest: `/${dots}${more}` })
  const exact = routes.exact.get(path)
  if (exact !== undefined) return answer(exact, routed)
  for (const [beginning, below] of routes.below)
    if (path.startsWith(`${beginning}/`)) return answer(below, { ...routed, rest: path.slice(beginning.length) })
  return routes.other(routed)
}

/** Calls the handler of a route for a request's method. @throws Refusal 405 with Allow for a method that the route does not have */
export function answer(to: Route, routed: Routed): Promise<void> | void {
  if (typeof to === 'function') return to(routed)
  const method = routed.request.method === 'HEAD' ? 'GET' : (routed.request.method ?? '')
  if (Object.hasOwn(to, method)) return to[method as keyof typeof to]?.(routed)
  const allowed = Object.keys(to).flatMap((name) => (name === 'GET' ? ['GET', 'HEAD'] : [name]))
  // The message omits the path, which may contain a key.
  throw new Refusal(405, `This path answers ${allowed.join(', ')}.`, {}, [['Allow', allowed.join(', ')]])
}
