import { type NodeOptions, type NodeRequest, type NodeResponse, rateLimit as nodeRateLimit } from './node.ts'

/** The part of an Express request that is read: `originalUrl`, since a mounted router cuts `url`. */
export interface ExpressRequest extends NodeRequest {
  readonly originalUrl: string
}

export type ExpressMiddleware<Request, Response> = (request: Request, response: Response, next: (error?: unknown) => void) => void

/**
 * A rate limit as Express middleware, for an app, a router or one route. Misuse (a cost that is no cost) goes to `next(error)`;
 * a failing store never does.
 */
export function rateLimit<Request extends ExpressRequest, Response extends NodeResponse>(
  options: NodeOptions<Request, Response>,
): ExpressMiddleware<Request, Response> {
  const limit = nodeRateLimit(options)
  return function rateLimitMiddleware(request, response, next) {
    limit(request, response, request.originalUrl).then((passed) => {
      if (passed) next()
    }, next)
  }
}
