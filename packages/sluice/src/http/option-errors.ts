import { LimiterError } from '../errors/limiter-error.ts'
import { shown } from '../errors/options.ts'

/**
 * Objects stay as they are. Any other value becomes an error that names it, because frameworks read some values as no error: after
 * `next(undefined)` or `next('route')` of Express, a request that was not checked goes on.
 */
export function errorOf(reason: unknown): object {
  if (typeof reason === 'object' && reason !== null) return reason
  return new LimiterError('INVALID_OPTIONS', `rateLimit: a function of the options failed with ${shown(reason)}, which is not an Error`)
}

/** Calls functions of the options. Rejects with objects only. */
export async function withErrors<T>(run: () => T | Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    throw errorOf(error)
  }
}
