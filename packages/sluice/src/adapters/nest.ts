import { createParamDecorator, type DynamicModule, type ExecutionContext, Module, type Provider, SetMetadata } from '@nestjs/common'
import { APP_FILTER } from '@nestjs/core'
import type { Decision } from '../decision/decision.ts'
import { FLAG, requireForm } from '../errors/options.ts'
import { RATE_LIMIT_OPTIONS, RateLimitFilter, RateLimitGuard, ROUTE_OPTIONS, SKIP } from './nest-guard.ts'
import {
  checkAsyncOptions,
  checkModuleOptions,
  checkRouteOptions,
  type RateLimitAsyncOptions,
  type RateLimitModuleOptions,
  type RouteOptions,
} from './nest-options.ts'
import type { NestRequest, NestResponse } from './nest-platform.ts'

export { RATE_LIMIT_OPTIONS, RateLimitException, RateLimitFilter, RateLimitGuard } from './nest-guard.ts'
export type { NestOptions, RateLimitAsyncOptions, RateLimitModuleOptions, RouteOptions } from './nest-options.ts'
export type { NestRequest, NestResponse } from './nest-platform.ts'

/**
 * Provides the options of `RateLimitGuard`, and answers refused requests. It limits nothing by itself: register the guard, for all routes
 * as `{ provide: APP_GUARD, useClass: RateLimitGuard }`. Works with Express and Fastify.
 */
// Modules of Nest are classes.
// oxlint-disable-next-line typescript/no-extraneous-class
export class RateLimitModule {
  /** @throws LimiterError INVALID_OPTIONS or INVALID_COST */
  static forRoot<Request = NestRequest, Response = NestResponse>(options: RateLimitModuleOptions<Request, Response>): DynamicModule {
    return moduleOf([], { provide: RATE_LIMIT_OPTIONS, useValue: checkModuleOptions('RateLimitModule.forRoot', options) })
  }

  /** As `forRoot`, with options that a function makes. The application does not start if they are wrong. */
  static forRootAsync<Request = NestRequest, Response = NestResponse>(options: RateLimitAsyncOptions<Request, Response>): DynamicModule {
    const { imports = [], inject = [], useFactory } = checkAsyncOptions(options)
    const made = async (...injected: unknown[]): Promise<unknown> =>
      checkModuleOptions('RateLimitModule.forRootAsync', await useFactory(...injected))
    return moduleOf(imports, { provide: RATE_LIMIT_OPTIONS, inject, useFactory: made })
  }
}

function moduleOf(imports: NonNullable<DynamicModule['imports']>, options: Provider): DynamicModule {
  return {
    module: RateLimitModule,
    global: true,
    imports,
    providers: [options, RateLimitGuard, { provide: APP_FILTER, useClass: RateLimitFilter }],
    exports: [RATE_LIMIT_OPTIONS, RateLimitGuard],
  }
}

/**
 * Options of a handler or a controller. They override the module's, and a handler's override its controller's.
 * @throws LimiterError INVALID_OPTIONS
 */
export function RateLimit<Request = NestRequest, Response = NestResponse>(
  options: RouteOptions<Request, Response>,
): ClassDecorator & MethodDecorator {
  checkRouteOptions(options)
  return SetMetadata(ROUTE_OPTIONS, options)
}

/**
 * Exempts a handler or a controller. On a handler, `@RateLimit` or `@SkipRateLimit(false)` ends its controller's exemption.
 * @throws LimiterError INVALID_OPTIONS
 */
export function SkipRateLimit(skip = true): ClassDecorator & MethodDecorator {
  requireForm('SkipRateLimit', 'skip', skip, FLAG)
  return SetMetadata(SKIP, skip)
}

/** Injects the decision: `@RateLimitDecision() decision?: Decision`. Undefined if the request was exempt. */
export const RateLimitDecision: () => ParameterDecorator = createParamDecorator(
  (_data: unknown, context: ExecutionContext): Decision | undefined => context.switchToHttp().getRequest<NestRequest>().rateLimit,
)

Module({})(RateLimitModule)
