import type { AnyLimit } from '../algorithms/algorithm.ts'
import { type Form, hasMethods, requireForm } from '../errors/options.ts'
import type { Limiter } from '../limiter/limiter.ts'

const MAX_LIMITS = 1_000

const LIMIT: Form = [
  (value) => hasMethods((value as Partial<AnyLimit> | null | undefined)?.algorithm?.codec, 'encodePlan'),
  "a limit, such as tokenBucket({ rate: '10/s', burst: 20 })",
]

/**
 * Caches results by the limit's value, because each request may have a new limit object.
 * @throws LimiterError (the returned function) INVALID_OPTIONS for a value that is not a limit, or has another algorithm than the limiter's
 * limit; NOT_SUPPORTED if the store cannot decide it
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
