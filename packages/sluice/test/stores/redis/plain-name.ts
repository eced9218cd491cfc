import { namedOf, plainLayout } from '../../../src/stores/redis/layout.ts'
import type { StateId } from '../../../src/stores/store.ts'

/** A state's name in Redis, in the plain layout. */
export function plainName(prefix: string, id: StateId): string {
  return plainLayout(prefix).addressesOf([namedOf(id)]).keys[0] as string
}
