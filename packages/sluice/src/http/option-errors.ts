import { LimiterError } from '../errors/limiter-error.ts'
import { shown } from '../errors/options.ts'

/**
 * Objects stay as they are. Any other value becomes an error that names it, because frameworks read some values as no error: after
 * `next(undefined)` or `next('route')` of Express, a request that was not checked goes on.
 */
export function errorOf(reason: unknown): object {
  return typeof reason === 'object' && reason !== null ? reason : namedError(reason)
}

/** Hono passes only instances of Error to `app.onError`. Its server answers other objects without it. */
export function instanceOfError(reason: unknown): Error {
  return reason instanceof Error ? reason : namedError(reason)
}

function namedError(cause: unknown): LimiterError {
  const what = `rateLimit: a function of the options failed with ${shown(cause)}, which is not an Error`
  return new LimiterError('INVALID_OPTIONS', what, { cause })
}

/** Calls functions of the options. Rejects with what `toError` makes of their errors. */
export async function withErrors<T>(run: () => T | Promise<T>, toError: (reason: unknown) => object = errorOf): Promise<T> {
  try {
    return await run()
  } catch (error) {
    throw toError(error)
  }
}
