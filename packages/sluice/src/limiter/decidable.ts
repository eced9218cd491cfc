import type { AnyLimit } from '../algorithms/algorithm.ts'
import { LimiterError } from '../errors/limiter-error.ts'
import type { Store } from '../stores/store.ts'

/**
 * Requires that the store supports the limit's algorithm.
 * @throws LimiterError NOT_SUPPORTED if it does not
 */
export function requireDecidable(where: string, { name = 'store', capabilities }: Store, { algorithm }: AnyLimit): void {
  if (capabilities.algorithms?.includes(algorithm.tag) ?? true) return
  throw new LimiterError(
    'NOT_SUPPORTED',
    `${where} is a ${algorithm.name}, which the ${name} store cannot decide in this version; a memory store can`,
  )
}
