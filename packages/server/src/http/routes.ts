import type { IncomingMessage, ServerResponse } from 'node:http'
import { normalizePath } from 'sluice/policy'
import { Refusal } from './answer.ts'

/** A request with its parsed target. */
export interface Routed {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Normalized as for matching rules. */
  readonly path: string
  /** What follows the route's own path, with its slash; empty for the path itself. */
  readonly rest: string
  readonly query: URLSearchParams
}

export type Handler = (routed: Routed) => Promise<void> | void

/** Handlers by method; HEAD uses the handler of GET. A single handler takes every method. */
export type Route = Handler | Readonly<Partial<Record<'GET' | 'POST' | 'PUT' | 'DELETE', Handler>>>

export interface Routes {
  /** By path. */
  readonly exact: ReadonlyMap<string, Route>
  /** By path prefix, up to its next slash. */
  readonly below: ReadonlyMap<string, Route>
  /** As `below`, for a segment of encoded dots after the prefix (`%2E`, `%2E%2E`), which is a name here and not a dot segment. */
  readonly dots: ReadonlyMap<string, Route>
}

const NO_QUERY = new URLSearchParams()

/**
 * Finds the handler of a request, or returns its path if it is none of the service's own. Routing uses the same normalized path as limits
 * do: a difference would let clients evade limits.
 * @throws Refusal 405 with Allow for a method that the path does not have
 */
export function findHandler(
  routes: Routes,
  request: IncomingMessage,
  response: ServerResponse,
): (() => Promise<void> | void) | { readonly path: string } {
  const { url = '/' } = request
  // Most requests have a normalized path and no query.
  const straight = routes.exact.get(url)
  if (straight !== undefined) return handlerOf(straight, { request, response, path: url, rest: '', query: NO_QUERY })
  const [, above = '', dots = '', more = ''] = /^([^?#%]*)\/((?:%2e){1,2})(\/[^?#]*)?(?=[?#]|$)/i.exec(url) ?? []
  const named = routes.dots.get(above)
  const path = normalizePath(url)
  const query = new URLSearchParams(/\?([^#]*)/.exec(url)?.[1])
  if (named !== undefined) return handlerOf(named, { request, response, path, rest: `/${dots}${more}`, query })
  const exact = routes.exact.get(path)
  if (exact !== undefined) return handlerOf(exact, { request, response, path, rest: '', query })
  for (const [beginning, route] of routes.below)
    if (path.startsWith(`${beginning}/`)) return handlerOf(route, { request, response, path, rest: path.slice(beginning.length), query })
  return { path }
}

/**
 * The handler of a route for a request's method.
 * @throws Refusal 405 with Allow for a method that the route does not have
 */
export function handlerOf(route: Route, routed: Routed): () => Promise<void> | void {
  if (typeof route === 'function') return () => route(routed)
  const method = routed.request.method === 'HEAD' ? 'GET' : routed.request.method
  const handler = Object.hasOwn(route, method ?? '') ? route[method as keyof typeof route] : undefined
  if (handler !== undefined) return () => handler(routed)
  const allowed = Object.keys(route)
    .flatMap((name) => (name === 'GET' ? ['GET', 'HEAD'] : [name]))
    .join(', ')
  // The message omits the path, which may contain a key.
  throw new Refusal(405, 'Method Not Allowed', `This path answers ${allowed}.`, {}, [['Allow', allowed]])
}
