import { HttpException } from '@nestjs/common'
import type { Request } from 'express'
import type { FastifyRequest } from 'fastify'
import type { NestRequest } from '../../src/adapters/nest-platform.ts'
import { RateLimit, RateLimitDecision, RateLimitModule, SkipRateLimit } from '../../src/adapters/nest.ts'
import { createLimiter, tokenBucket } from '../../src/index.ts'

/**
 * This file compiles with `sluice/nest`. It is never run. The check `types` fails if a line does not compile. It also fails if the line
 * below an `@ts-expect-error` compiles.
 */
const limiter = createLimiter({ limit: tokenBucket({ rate: '10/s', burst: 20 }) })

// U2: what the requests of both platforms have, without an annotation.
RateLimitModule.forRoot({ limiter, key: (request) => request.params['id'] ?? request.method })
RateLimitModule.forRoot({ limiter, key: (request) => request.body.user, skip: (request) => request.query['free'] !== undefined })
RateLimitModule.forRoot({ limiter, limiters: { login: limiter }, cost: (request) => Number(request.headers['x-cost'] ?? 1) })
RateLimitModule.forRoot({ limiter, onDenied: (_context, decision) => new HttpException(`${decision.retryAfterMs}`, 429) })
RateLimitModule.forRoot({
  limiter,
  countWhen: (response) => response.statusCode === 200,
  actualCost: (_response, request) => request.body.n,
})
RateLimitModule.forRootAsync({ inject: ['LIMITER'], useFactory: (made: typeof limiter) => ({ limiter: made }) })
// @ts-expect-error a property that only the requests of one platform have
RateLimitModule.forRoot({ limiter, key: (request) => request.ip })
// @ts-expect-error a key that is not a text
RateLimitModule.forRoot({ limiter, key: (request) => request.url.length })
// @ts-expect-error a limiter by name is an option of routes
RateLimitModule.forRoot({ limiter: 'login' })
// @ts-expect-error a factory of something else
RateLimitModule.forRootAsync({ useFactory: () => 5 })

// The request of a platform, where the parameter names it.
RateLimitModule.forRoot({ limiter, key: (request: FastifyRequest) => request.ip })
RateLimitModule.forRoot({ limiter, key: (request: Request<{ id: string }>) => request.params.id })
// @ts-expect-error a parameter that the annotation does not have
RateLimitModule.forRoot({ limiter, key: (request: Request<{ id: string }>) => request.params.name })

// The decorators of controllers, handlers and parameters are called as functions here. docs/http.md shows them as decorators.
type Both = ClassDecorator & MethodDecorator
RateLimit({ limiter, key: (request) => request.params['tenant'] ?? '' }) satisfies Both
RateLimit({ limiter: 'login', key: (request: FastifyRequest<{ Params: { id: string } }>) => request.params.id }) satisfies Both
RateLimit({ limiter: 'login', key: (request) => request.user.id }) satisfies Both
SkipRateLimit() satisfies Both

// U7: a handler sees the decision.
RateLimitDecision() satisfies ParameterDecorator
export const handler = ({ rateLimit: decision }: NestRequest): number | undefined => decision?.limits[0]?.remaining
// @ts-expect-error it may be absent
export const wrong = ({ rateLimit: decision }: NestRequest): boolean => decision.allowed

// @ts-expect-error an option that there is not
RateLimit({ limiters: {} })
// @ts-expect-error a property that the request does not have
RateLimit({ key: (request) => request.nothing })
