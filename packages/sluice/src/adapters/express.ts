import type express from 'express'
import type { Decision } from '../decision/decision.ts'
import type { RequestReader } from '../http/gate.ts'
import { onRequestClose } from '../http/leaving.ts'
import { type NodeOptions, type NodeRequest, type NodeResponse, rateLimit as nodeRateLimit } from './node.ts'

declare global {
  // Express's own namespace for properties that middleware adds to requests.
  namespace Express {
    interface Request {
      /**
       * The decision of the last `rateLimit` (`sluice/express`) that checked this request. Absent if none has checked it, for example
       * because of `skip`.
       */
      rateLimit?: Decision
    }
  }
}

/** The fields that are read of an Express request (4 or 5). `originalUrl` is read because a mounted router shortens `url`. */
export interface ExpressRequest extends NodeRequest {
  /** The request target as sent, also below a mounted router. */
  readonly originalUrl: string
  /** The path at which the router is mounted; empty for the app itself. */
  readonly baseUrl: string
  /** The matched route; its path is the route in metrics. */
  readonly route?: { readonly path?: unknown } | undefined
}

/** A middleware: calls `next()` if the request may pass, `next(error)` for an error, and neither if it has answered the request. */
export type ExpressMiddleware<Request = ExpressRequest, Response = NodeResponse> = (
  request: Request,
  response: Response,
  next: (error?: unknown) => void,
) => void

/**
 * The type of the middleware. It always resolves to the second of the two types. The condition only makes the compiler infer the request
 * type of `key` and the other functions from the route, where Express knows it, such as in `app.route('/a/:id').get(...)`. If the
 * middleware had that request type itself, it would also determine the requests of the route's other handlers.
 */
export type InferredMiddleware<Request, Response> = [Request] extends [never] ? ExpressMiddleware<Request, Response> : ExpressMiddleware

const READER: RequestReader<ExpressRequest> = {
  method: ({ method }) => method ?? 'GET',
  target: ({ originalUrl }) => originalUrl,
  headers: ({ headers }) => headers,
  rawHeaders: ({ rawHeaders }) => rawHeaders,
  onLeave: onRequestClose,
  // Inside a mounted router only the path that matched the mount pattern is known. It may identify somebody, so no route is reported.
  route: ({ baseUrl, route }) => (baseUrl === '' && typeof route?.path === 'string' ? route.path : undefined),
}

/**
 * A rate limit as Express middleware, for an app, a router or one route. Later handlers read the decision from `request.rateLimit`. Errors
 * of key, limit, cost, skip or onDenied, and misuse such as an invalid cost, go to `next(error)`. A failure of the store never does.
 *
 * In `app.get('/a/:id', rateLimit(...))` the compiler cannot know the names of the parameters, so `request.params` is `any` there. To have
 * them checked, write `rateLimit<Request<{ id: string }>>(...)`.
 */
export function rateLimit<
  // oxlint-disable-next-line typescript/no-explicit-any -- the names of the parameters in the path, which are not known here
  Request extends ExpressRequest = express.Request<any>,
  Response extends NodeResponse = express.Response,
>(options: NodeOptions<Request, Response>): InferredMiddleware<Request, Response> {
  const limit = nodeRateLimit(options, READER)
  const middleware: ExpressMiddleware<Request, Response> = (request, response, next) => {
    limit(request, response).then((passed) => {
      if (passed) next()
    }, next)
  }
  return middleware as InferredMiddleware<Request, Response>
}
