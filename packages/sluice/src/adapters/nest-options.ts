import type { ExecutionContext, FactoryProvider, ModuleMetadata } from '@nestjs/common'
import type { Decision } from '../decision/decision.ts'
import { LimiterError } from '../errors/limiter-error.ts'
import { checkOptions, type Form, FUNCTION, OBJECT, requireForm } from '../errors/options.ts'
import { createGate } from '../http/gate.ts'
import { FORMS, type GateOptions, isCounting } from '../http/gate-options.ts'
import { mergedOptions } from '../http/merged-options.ts'
import { type NestRequest, type NestResponse, type PlatformRequest, READER } from './nest-platform.ts'

/** The options that all adapters share, and `onDenied`. `Request` is inferred from the parameter of a function such as `key`. */
export interface NestOptions<Request = NestRequest, Response = NestResponse> extends GateOptions<Request, Response> {
  /**
   * Returns or throws the exception that answers a refused request, such as `new HttpException('Slow down.', 429)`. `'wait'`: requests wait
   * for their turn instead (`maxWaitMs`, `maxWaiting`).
   */
  readonly onDenied?: ((context: ExecutionContext, decision: Decision) => unknown) | 'wait' | undefined
}

/** The options of `RateLimitModule`, for all routes. Options of a controller or a route override single ones. */
export interface RateLimitModuleOptions<Request = NestRequest, Response = NestResponse> extends NestOptions<Request, Response> {
  /** Limiters that routes choose by name: `@RateLimit({ limiter: 'login' })`. */
  readonly limiters?: Readonly<Record<string, NonNullable<GateOptions<Request>['limiter']>>> | undefined
}

/** The options of a route or a controller. They override those of the module. */
export interface RouteOptions<Request = NestRequest, Response = NestResponse> extends Omit<NestOptions<Request, Response>, 'limiter'> {
  /** A limiter, or the name of one of the module's `limiters`. For this route it replaces the module's engine and `limit` too. */
  readonly limiter?: GateOptions<Request>['limiter'] | string | undefined
}

type Made<Options> = Options | Promise<Options>

/** Options of `forRootAsync`. */
export interface RateLimitAsyncOptions<Request = NestRequest, Response = NestResponse> {
  /** Modules that provide what `inject` names. */
  readonly imports?: ModuleMetadata['imports'] | undefined
  /** The injection tokens of the function's arguments. */
  readonly inject?: FactoryProvider['inject'] | undefined
  /** Makes the options of the module. */
  // The types depend on the tokens in `inject`, which the compiler cannot know.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly useFactory: (...injected: any[]) => Made<RateLimitModuleOptions<Request, Response>>
}

/** @throws LimiterError INVALID_OPTIONS */
export function checkModuleOptions<Request, Response>(
  where: string,
  options: RateLimitModuleOptions<Request, Response>,
): RateLimitModuleOptions<Request, Response> {
  checkOptions(where, options, { ...FORMS, limiters: OBJECT })
  for (const [name, limiter] of Object.entries(options.limiters ?? {})) requireForm(where, `limiters.${name}`, limiter, FORMS.limiter)
  const { limiters, ...gateOptions } = options
  // With `limiters` alone, the module only names limiters for routes.
  if (limiters === undefined || options.limiter !== undefined || options.engine !== undefined)
    createGate(gateOptions as GateOptions<PlatformRequest>, READER)
  return options
}

const LIMITER_OR_NAME: Form = [(value) => typeof value === 'string' || FORMS.limiter[0](value), `${FORMS.limiter[1]}, or a name`]
const ITEMS: Form = [
  (value) => Array.isArray(value) && !value.some((one) => one === undefined || one === null),
  'a list without undefined or null',
]

/** @throws LimiterError INVALID_OPTIONS */
export function checkAsyncOptions<Request, Response>(
  options: RateLimitAsyncOptions<Request, Response>,
): RateLimitAsyncOptions<Request, Response> {
  checkOptions('RateLimitModule.forRootAsync', options, { imports: ITEMS, inject: ITEMS, useFactory: FUNCTION })
  requireForm('RateLimitModule.forRootAsync', 'useFactory', options.useFactory, FUNCTION)
  return options
}

/** @throws LimiterError INVALID_OPTIONS */
export function checkRouteOptions<Request, Response>(options: RouteOptions<Request, Response>): void {
  checkOptions('RateLimit', options, { ...FORMS, limiter: LIMITER_OR_NAME })
  const { limiter, engine } = options
  const known = typeof limiter === 'object' || engine !== undefined
  // A route may set only `maxWaitMs`, `maxWaiting` or `holdMs`. The module may set what these need, so they are checked as if it had.
  const { onDenied = options.maxWaitMs === undefined && options.maxWaiting === undefined ? undefined : 'wait' } = options
  const held = options.holdMs === undefined || isCounting(options) ? {} : { countWhen: 'success' }
  const whole: object = {
    ...options,
    ...held,
    ...(known ? {} : { limiter: SOME_LIMITER }),
    ...(onDenied === undefined ? {} : { onDenied }),
  }
  createGate(whole as GateOptions<PlatformRequest>, READER)
}

/** Never called. The module's limiter is not known when a route's options are checked. */
const SOME_LIMITER = { limits: { default: undefined }, check() {}, wait() {}, reserve() {}, withLimit() {} }

/**
 * Options of a more specific place (a controller or a handler) take precedence.
 * @throws LimiterError INVALID_OPTIONS for a name that no limiter has
 */
export function overridden(base: RateLimitModuleOptions, own: RouteOptions | undefined): RateLimitModuleOptions {
  if (own === undefined) return base
  const { limiter, ...others } = own
  if (limiter === undefined) return mergedOptions(base, others)
  return mergedOptions(base, { ...others, limiter: typeof limiter === 'string' ? named(limiter, base) : limiter })
}

function named(name: string, { limiters = {} }: RateLimitModuleOptions): NonNullable<GateOptions<NestRequest>['limiter']> {
  const limiter = Object.hasOwn(limiters, name) ? limiters[name] : undefined
  if (limiter !== undefined) return limiter
  const known = Object.keys(limiters).join(', ') || 'none'
  throw new LimiterError('INVALID_OPTIONS', `RateLimit: limiter is "${name}", expected one of the module's limiters: ${known}`)
}
