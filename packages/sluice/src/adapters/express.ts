import type express from 'express'
import type { Decision } from '../decision/decision.ts'
import type { RequestReader } from '../http/gate.ts'
import { onRequestClose } from '../http/leaving.ts'
import { errorOf } from '../http/option-errors.ts'
import { type NodeOptions, type NodeRequest, type NodeResponse, rateLimit as nodeRateLimit } from './node.ts'

declare global {
  namespace Express {
    interface Request {
      /** The decision of the last `rateLimit` (`sluice/express`). Absent if none checked this request (`skip`). */
      rateLimit?: Decision
    }
  }
}

/** The fields that are read of an Express request (4 or 5). */
export interface ExpressRequest extends NodeRequest {
  /** The target as sent. A mounted router shortens only `url`. */
  readonly originalUrl: string
  /** Where the router is mounted; empty for the app itself. */
  readonly baseUrl: string
  /** The matched route, for metrics. */
  readonly route?: { readonly path?: unknown } | undefined
}

/** Calls `next()` if the request may pass, `next(error)` for an error, and neither if it has answered the request. */
export type ExpressMiddleware<Request = ExpressRequest, Response = NodeResponse> = (
  request: Request,
  response: Response,
  next: (error?: unknown) => void,
) => void

/** A conditional type, so that `Request` is inferred from the route, but not forced on the route's other handlers. */
export type InferredMiddleware<Request, Response> = [Request] extends [never] ? ExpressMiddleware<Request, Response> : ExpressMiddleware

const READER: RequestReader<ExpressRequest> = {
  method: ({ method }) => method ?? 'GET',
  target: ({ originalUrl }) => originalUrl,
  headers: ({ headers }) => headers,
  rawHeaders: ({ rawHeaders }) => rawHeaders,
  onLeave: onRequestClose,
  // In a mounted router only the path that matched the mount pattern is known. It may identify somebody.
  route: ({ baseUrl, route }) => (baseUrl === '' && typeof route?.path === 'string' ? route.path : undefined),
}

/**
 * A rate limit as Express middleware. Later handlers find the decision in `request.rateLimit`. Errors of the options' functions, and
 * misuse, go to `next(error)`. Failures of the store do not.
 *
 * In `app.get('/a/:id', rateLimit(...))`, `request.params` is `any`. To have it checked, write `rateLimit<Request<{ id: string }>>(...)`.
 */
export function rateLimit<
  // oxlint-disable-next-line typescript/no-explicit-any -- the names of the parameters in the path, which are not known here
  Request extends ExpressRequest = express.Request<any>,
  Response extends NodeResponse = express.Response,
>(options: NodeOptions<Request, Response>): InferredMiddleware<Request, Response> {
  const limit = nodeRateLimit(options, READER)
  const middleware: ExpressMiddleware<Request, Response> = (request, response, next) => {
    limit(request, response).then(
      (passed) => {
        if (passed) next()
      },
      (error: unknown) => next(errorOf(error)),
    )
  }
  return middleware as InferredMiddleware<Request, Response>
}
