import type { RequestReader } from '../http/gate.ts'
import { type NodeOptions, type NodeRequest, type NodeResponse, rateLimit as nodeRateLimit } from './node.ts'

/** The part of an Express request (4 or 5) that is read: `originalUrl`, since a mounted router cuts `url`. */
export interface ExpressRequest extends NodeRequest {
  readonly originalUrl: string
  readonly baseUrl: string
  readonly route?: { readonly path?: unknown } | undefined
}

export type ExpressMiddleware<Request, Response> = (request: Request, response: Response, next: (error?: unknown) => void) => void

const READER: RequestReader<ExpressRequest> = {
  method: ({ method }) => method ?? 'GET',
  target: ({ originalUrl }) => originalUrl,
  headers: ({ headers }) => headers,
  rawHeaders: ({ rawHeaders }) => rawHeaders,
  // Below a mounted router the pattern it was mounted at is not known, only the path that matched: that may name somebody.
  route: ({ baseUrl, route }) => (baseUrl === '' && typeof route?.path === 'string' ? route.path : undefined),
}

/**
 * A rate limit as Express middleware, for an app, a router or one route. What key, cost, skip or onDenied throw, and misuse (a
 * cost that is no cost), goes to `next(error)`; a failing store never does.
 */
export function rateLimit<Request extends ExpressRequest, Response extends NodeResponse>(
  options: NodeOptions<Request, Response>,
): ExpressMiddleware<Request, Response> {
  const limit = nodeRateLimit(options, READER)
  return function rateLimitMiddleware(request, response, next) {
    limit(request, response).then((passed) => {
      if (passed) next()
    }, next)
  }
}
