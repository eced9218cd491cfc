import { resilient, withCoalescing } from 'sluice/wrap'
import { over } from './sluice.ts'
import type { Way } from './way.ts'

export const coalescing: Way = over('Sluice, coalescing', (store) => withCoalescing(store))
/** The wrappers in their recommended order, with their defaults. */
export const wrapped: Way = over('Sluice, resilient', (store) => resilient(store))
