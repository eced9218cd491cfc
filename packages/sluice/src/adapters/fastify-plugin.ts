import type * as framework from 'fastify'
import { LimiterError } from '../errors/limiter-error.ts'
import { OBJECT, oneOf, requireForm, shown } from '../errors/options.ts'
import { mergedOptions } from '../http/merged-options.ts'
import { configOf, DECORATOR, type FastifyHook, type FastifyOptions, type FastifyRequest, limitOf } from './fastify-hook.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * For `rateLimitPlugin` of `sluice/fastify`: `false` switches its limits off for this route. Options replace the same options of each
     * registered plugin. `limiter` or `engine` replaces all plugins by one limit.
     */
    rateLimit?: false | FastifyRouteOptions | undefined
  }
}

/** Fastify does not pass a route's types to its config. */
/* oxlint-disable typescript/no-explicit-any */
interface AnyRoute {
  readonly params: any
  readonly query: any
  readonly body: any
}
/* oxlint-enable typescript/no-explicit-any */

/** Options of one route, in `config.rateLimit`. `limiter` and `engine` also remove the plugin's option `limit`. */
export type FastifyRouteOptions = Partial<FastifyOptions<framework.FastifyRequest & AnyRoute, framework.FastifyReply>>

/** Options of `rateLimitPlugin`. */
export interface FastifyPluginOptions extends FastifyOptions<framework.FastifyRequest, framework.FastifyReply> {
  /** When the plugin decides; default `onRequest`. Use `preHandler` if a key needs the body. */
  readonly hook?: (typeof HOOKS)[number] | undefined
}

const HOOKS = ['onRequest', 'preValidation', 'preHandler'] as const
const HOOK = oneOf(...HOOKS)

/**
 * A rate limit for all routes of a Fastify scope: `await app.register(rateLimitPlugin, { limiter })`. A route changes it in its
 * `config.rateLimit`. If the plugin was awaited, options of a route are checked when the route is registered.
 * @throws LimiterError (register rejects) INVALID_OPTIONS
 */
export const rateLimitPlugin: framework.FastifyPluginAsync<FastifyPluginOptions> = Object.assign(
  async (app: framework.FastifyInstance, options: FastifyPluginOptions): Promise<void> => {
    requireForm('rateLimitPlugin', 'options', options, OBJECT)
    const { hook = 'onRequest', ...rest } = options
    requireForm('rateLimitPlugin', 'hook', hook, HOOK)
    const hooked = hookOf(rest)
    if (!app.hasRequestDecorator(DECORATOR)) app.decorateRequest(DECORATOR)
    app.addHook('onRoute', ({ url, config }) => hooked.checkRoute(url, config?.rateLimit))
    // The three hooks have equal arguments, but the type of `addHook` requires one name.
    app.addHook(hook as 'onRequest', hooked.run)
  },
  {
    // Makes the hooks apply to the scope in which the plugin is registered.
    [Symbol.for('skip-override')]: true,
    [Symbol.for('fastify.display-name')]: 'sluice',
    [Symbol.for('plugin-meta')]: { name: 'sluice', fastify: '>=5' },
  },
)

/** Requests that their route's own limit has charged, so that a second plugin does not charge them again. */
const limited = new WeakSet<FastifyRequest>()

function hookOf(options: FastifyPluginOptions): { run: FastifyHook; checkRoute(url: string, config: unknown): void } {
  const limit = limitOf(options)
  const limits = new WeakMap<object, FastifyHook>()
  const limitOfRoute = (url: string | undefined, config: unknown): FastifyHook => {
    if (typeof config !== 'object' || config === null)
      throw refused(`config.rateLimit of the route ${url} is ${shown(config)}, expected false or an object with options`)
    let known = limits.get(config)
    if (known === undefined)
      limits.set(config, (known = namingRoute(url, () => limitOf(mergedOptions<FastifyPluginOptions>(options, config)))))
    return known
  }
  return {
    checkRoute(url, config) {
      if (config !== undefined && config !== false) limitOfRoute(url, config)
    },
    async run(request, reply) {
      const config = configOf(request)
      if (config === undefined) return limit(request, reply)
      if (config === false) return undefined
      // Without a limit of its own, the route keeps the limit of each plugin, because any may be the strictest.
      if (hasOwnLimit(config)) {
        if (limited.has(request)) return undefined
        limited.add(request)
      }
      return limitOfRoute(request.routeOptions?.url, config)(request, reply)
    },
  }
}

function hasOwnLimit(config: unknown): boolean {
  const { limiter, engine } = (config ?? {}) as FastifyRouteOptions
  return limiter !== undefined || engine !== undefined
}

function namingRoute<T>(url: string | undefined, build: () => T): T {
  try {
    return build()
  } catch (error) {
    if (!(error instanceof LimiterError)) throw error
    throw refused(`config.rateLimit of the route ${url}: ${error.message.replace(/^rateLimit: /, '')}`, error.code)
  }
}

function refused(why: string, code: LimiterError['code'] = 'INVALID_OPTIONS'): LimiterError {
  return new LimiterError(code, `rateLimit: ${why}`)
}
