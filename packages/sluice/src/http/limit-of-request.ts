import type { AnyLimit } from '../algorithms/algorithm.ts'
import { type Form, hasMethods, requireForm } from '../errors/options.ts'
import type { Limiter } from '../limiter/limiter.ts'

/** The most limits whose limiter is cached. A full cache is cleared; no state is lost, because states are in the store. */
const MAX_LIMITS = 1_000

const LIMIT: Form = [
  (value) => hasMethods((value as Partial<AnyLimit> | null | undefined)?.algorithm?.codec, 'encodePlan'),
  "a limit, such as tokenBucket({ rate: '10/s', burst: 20 })",
]

/**
 * Returns a function that calls `make` with the limiter of a given limit, and returns the result. Results are cached by the value of the
 * limit, because programs that compute a limit per request make a new object each time.
 * @throws LimiterError (the returned function) INVALID_OPTIONS for a value that is not a limit or has another algorithm; NOT_SUPPORTED if
 * the store cannot decide it
 */
export function byLimit<T>(limiter: Limiter, make: (limiter: Limiter) => T): (limit: AnyLimit) => T {
  const made = new Map<string, T>()
  return (limit) => {
    requireForm('rateLimit', 'what limit returned', limit, LIMIT)
    const { algorithm, plan } = limit
    const id = `${algorithm.tag},${algorithm.codec.encodePlan(plan).join()}`
    let value = made.get(id)
    if (value === undefined) {
      value = make(limiter.withLimit(limit))
      if (made.size >= MAX_LIMITS) made.clear()
      made.set(id, value)
    }
    return value
  }
}
