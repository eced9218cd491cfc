import type { IncomingMessage, ServerResponse } from 'node:http'
import { normalizePath } from 'sluice/policy'
import { Refusal } from './answer.ts'

export interface Routed {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Normalized as for matching rules; the prefix alone below a prefix of `PROXY_PREFIXES`. */
  readonly path: string
  /** The path after the route's own path, with the leading slash; may be empty. Below a prefix of `PROXY_PREFIXES` it is as sent. */
  readonly rest: string
  readonly query: URLSearchParams
}

export type Handler = (routed: Routed) => Promise<void> | void

/** HEAD uses the handler of GET. A single handler takes every method. */
export type Route = Handler | Readonly<Partial<Record<'GET' | 'POST' | 'PUT' | 'DELETE', Handler>>>

/**
 * A proxy appends the target of its client's request to such a prefix. The client must reach no other endpoint, and the rules must see
 * every reading of the path.
 */
export const PROXY_PREFIXES = ['/v1/auth', '/v1/decision'] as const

type ProxyPrefix = (typeof PROXY_PREFIXES)[number]

export interface Routes {
  readonly exact: ReadonlyMap<string, Route>
  /** By this prefix of the path as sent, which more must follow. */
  readonly proxied: Readonly<Record<ProxyPrefix, Handler>>
  /** By a prefix of the path, which a slash must follow. */
  readonly below: ReadonlyMap<string, Route>
  /** As `below`, if the next segment is encoded dots (`%2E`, `%2E%2E`). That segment is then a name, not a dot segment. */
  readonly dots: ReadonlyMap<string, Route>
  readonly other: Handler
}

/** These answer even while all other requests are refused. */
export const HEALTH: ReadonlySet<string> = new Set(['/livez', '/readyz'])
const NO_QUERY = new URLSearchParams()

/**
 * The path that chooses the endpoint. It is normalized as for limits, because a difference would let clients evade limits. Below a proxy
 * prefix it is the prefix, and `rest` is all that follows it, as sent.
 */
export function endpointOf(url: string): { readonly path: string; readonly rest: string } {
  const [, sent = ''] = /^(?:[a-z][a-z\d+.-]*:[/\\]{2}[^/\\?#]*)?([^?#]*)/i.exec(url) ?? []
  const prefix = PROXY_PREFIXES.find((each) => sent.startsWith(each))
  return prefix === undefined || sent === prefix
    ? { path: normalizePath(url), rest: '' }
    : { path: prefix, rest: sent.slice(prefix.length) }
}

/** @throws Refusal 404 for another spelling of a proxy prefix, 405 with Allow */
export function route(routes: Routes, request: IncomingMessage, response: ServerResponse): Promise<void> | void {
  const { url = '/' } = request
  // Most paths are normalized and have no query.
  const straight = routes.exact.get(url)
  if (straight !== undefined) return answer(straight, { request, response, path: url, rest: '', query: NO_QUERY })
  const [, above = '', dots = '', more = ''] = /^([^?#%]*)\/((?:%2e){1,2})(\/[^?#]*)?(?=[?#]|$)/i.exec(url) ?? []
  const { path, rest } = endpointOf(url)
  const routed = { request, response, path, rest: '', query: new URLSearchParams(/\?([^#]*)/.exec(url)?.[1]) }
  const named = routes.dots.get(above)
  if (named !== undefined) return answer(named, { ...routed, rest: `/${dots}${more}` })
  const prefix = PROXY_PREFIXES.find((each) => (rest === '' ? path.startsWith(`${each}/`) : path === each))
  if (prefix !== undefined) return answer(routes.proxied[prefix], { ...routed, rest: requireTarget(prefix, rest) })
  const exact = routes.exact.get(path)
  if (exact !== undefined) return answer(exact, routed)
  for (const [beginning, below] of routes.below)
    if (path.startsWith(`${beginning}/`)) return answer(below, { ...routed, rest: path.slice(beginning.length) })
  return routes.other(routed)
}

/**
 * Only the exact prefix separates what the proxy wrote from what its client wrote.
 * @throws Refusal 404
 */
function requireTarget(prefix: ProxyPrefix, rest: string): string {
  if (/^[/\\]/.test(rest)) return rest
  throw new Refusal(404, `There is nothing here; a proxy must spell the prefix ${prefix}, and append a path with a leading slash.`)
}

/** @throws Refusal 405 with Allow */
export function answer(to: Route, routed: Routed): Promise<void> | void {
  if (typeof to === 'function') return to(routed)
  const method = routed.request.method === 'HEAD' ? 'GET' : (routed.request.method ?? '')
  if (Object.hasOwn(to, method)) return to[method as keyof typeof to]?.(routed)
  const allowed = Object.keys(to).flatMap((name) => (name === 'GET' ? ['GET', 'HEAD'] : [name]))
  // The path may contain a key, so it is not shown.
  throw new Refusal(405, `This path answers ${allowed.join(', ')}.`, {}, [['Allow', allowed.join(', ')]])
}
