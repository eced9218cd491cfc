import type { RequestReader } from '../http/gate.ts'
import { type NodeOptions, type NodeRequest, type NodeResponse, rateLimit as nodeRateLimit } from './node.ts'

/** The fields that are read of an Express request (4 or 5). `originalUrl`, because a mounted router shortens `url`. */
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
  // Inside a mounted router the mount pattern is not known, only the path that matched, which may identify somebody.
  route: ({ baseUrl, route }) => (baseUrl === '' && typeof route?.path === 'string' ? route.path : undefined),
}

/**
 * A rate limit as Express middleware, for an app, a router or one route. Errors of key, cost, skip or onDenied, and misuse (an invalid
 * cost), go to `next(error)`; a failing store never does.
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
