import {
  type ArgumentsHost,
  type CanActivate,
  Catch,
  type ExceptionFilter,
  type ExecutionContext,
  HttpException,
  Inject,
  Injectable,
  Optional,
} from '@nestjs/common'
import { Reflector } from '@nestjs/core'
import type { Decision } from '../decision/decision.ts'
import { LimiterError } from '../errors/limiter-error.ts'
import { createGate, type Gate } from '../http/gate.ts'
import { type Answer, PROBLEM_TYPE } from '../http/problem.ts'
import { finishAtEnd } from '../http/response-end.ts'
import { handlerOf, LEFT_STATUS } from '../http/waiting.ts'
import { checkModuleOptions, type NestOptions, overridden, type RateLimitModuleOptions, type RouteOptions } from './nest-options.ts'
import { type NestResponse, type PlatformRequest, type PlatformResponse, rawRequest, rawResponse, READER, sinkOf } from './nest-platform.ts'

/** The injection token of the module's options. */
export const RATE_LIMIT_OPTIONS: unique symbol = Symbol('sluice: options of RateLimitModule')
export const ROUTE_OPTIONS = 'sluice:rate-limit'
export const SKIP = 'sluice:skip-rate-limit'

/** Answers a refused request. `getStatus()` is 429, 400 or 503, and `getResponse()` is the problem. The header fields are already set. */
export class RateLimitException extends HttpException {
  /** The decision that refused the request. */
  readonly decision: Decision
  /** The problem as JSON. */
  readonly body: string

  constructor(decision: Decision, { problem, body }: Answer) {
    super({ ...problem }, problem.status)
    this.decision = decision
    this.body = body
  }
}

interface RouteLimit {
  readonly gate: Gate<PlatformRequest>
  readonly onDenied: Exclude<NestOptions['onDenied'], 'wait'>
}

/**
 * Limits requests. Register it with `@UseGuards`, or for all routes as `APP_GUARD`, after guards that a `key` depends on. A refused request
 * ends in a `RateLimitException`. Errors of the options' functions, but not failures of the store, go to Nest's exception filters.
 */
export class RateLimitGuard implements CanActivate {
  readonly #options: RateLimitModuleOptions
  readonly #reflector = new Reflector()
  /** By class and handler: several classes may inherit the same handler. */
  readonly #limits = new WeakMap<object, WeakMap<object, RouteLimit | 'skip'>>()

  /** @throws LimiterError INVALID_OPTIONS for options that `RateLimitModule.forRoot` refuses */
  constructor(options?: RateLimitModuleOptions) {
    this.#options = options === undefined ? {} : checkModuleOptions('RateLimitGuard', options)
  }

  /** Resolves to true, or throws a RateLimitException. */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const limit = this.#limitOf(context)
    if (limit === 'skip') return true
    const { request, response } = this.requestResponse(context) as { request: PlatformRequest; response: PlatformResponse }
    const passage = await limit.gate.check(request, rawRequest(request).socket.remoteAddress)
    const { decision, answer, left } = passage
    if (left === true) throw new HttpException('Client Closed Request', LEFT_STATUS)
    if (decision === undefined) return true
    ;(request as { rateLimit?: Decision }).rateLimit = decision
    finishAtEnd(rawResponse(response), passage, response)
    if (!rawResponse(response).headersSent) limit.gate.applyHeaders(sinkOf(response), passage)
    if (answer === undefined) return true
    const own = await limit.onDenied?.(context, decision)
    throw own instanceof Error ? own : new RateLimitException(decision, answer)
  }

  /**
   * Override it for handlers of another kind than HTTP, such as GraphQL, whose context contains request and response.
   * @throws LimiterError INVALID_OPTIONS for a call without a request
   */
  protected requestResponse(context: ExecutionContext): { readonly request: object; readonly response: object } {
    const kind = context.getType()
    if (kind === 'http')
      return { request: context.switchToHttp().getRequest<object>(), response: context.switchToHttp().getResponse<object>() }
    const where = `${context.getClass().name}.${context.getHandler().name}`
    const help = 'skip it with @SkipRateLimit(), or override requestResponse in a subclass of the guard'
    throw new LimiterError('INVALID_OPTIONS', `RateLimitGuard: ${where} is a handler of ${kind}, which has no HTTP request; ${help}`)
  }

  #limitOf(context: ExecutionContext): RouteLimit | 'skip' {
    const [ofClass, handler] = [context.getClass(), context.getHandler()]
    let limits = this.#limits.get(ofClass)
    if (limits === undefined) this.#limits.set(ofClass, (limits = new WeakMap()))
    let limit = limits.get(handler)
    if (limit === undefined) limits.set(handler, (limit = this.#build(ofClass, handler)))
    return limit
  }

  #build(ofClass: object & { readonly name: string }, handler: object & { readonly name: string }): RouteLimit | 'skip' {
    const read = <T>(key: string): (T | undefined)[] => [ofClass, handler].map((target) => this.#reflector.get<T>(key, target as never))
    const [classSkip, handlerSkip] = read<boolean>(SKIP)
    const [classOptions, handlerOptions] = read<RouteOptions>(ROUTE_OPTIONS)
    // A handler with options is limited even if its class is skipped.
    if (handlerSkip ?? (handlerOptions === undefined && classSkip === true)) return 'skip'
    const options = [classOptions, handlerOptions].reduce<RateLimitModuleOptions>(overridden, this.#options)
    const { limiters: _all, ...gateOptions } = options
    if (gateOptions.limiter === undefined && gateOptions.engine === undefined) {
      const where = `${ofClass.name}.${handler.name}`
      const help = 'give limiter or engine to RateLimitModule.forRoot, or to @RateLimit of this route'
      throw new LimiterError('INVALID_OPTIONS', `RateLimitGuard: ${where} has no limiter; ${help}`)
    }
    return { gate: createGate<PlatformRequest, NestResponse>(gateOptions, READER), onDenied: handlerOf(gateOptions.onDenied) }
  }
}

/**
 * Answers a `RateLimitException` with `application/problem+json`, where Nest would send `application/json`. `RateLimitModule` registers it
 * for all routes.
 */
export class RateLimitFilter implements ExceptionFilter<RateLimitException> {
  /** If the response has already begun, this only ends it. */
  catch(exception: RateLimitException, host: ArgumentsHost): unknown {
    // GraphQL, for example, reports the exception itself.
    if (host.getType() !== 'http') return exception
    const response = host.switchToHttp().getResponse<PlatformResponse>()
    const raw = rawResponse(response)
    if (raw.headersSent) {
      // The response has begun, so its status is final. The code that began it might never end it.
      if (!raw.writableEnded) raw.end()
      return undefined
    }
    response.status(exception.getStatus())
    sinkOf(response).setHeader('Content-Type', PROBLEM_TYPE)
    response.send(exception.body)
    return undefined
  }
}

// Called as functions, so this package needs no compiler option for decorators.
Injectable()(RateLimitGuard)
Optional()(RateLimitGuard, undefined, 0)
Inject(RATE_LIMIT_OPTIONS)(RateLimitGuard, undefined, 0)
Catch(RateLimitException)(RateLimitFilter)
