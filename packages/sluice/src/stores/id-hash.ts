import { hash32 } from '../decision/jitter.ts'
import type { StateId } from './store.ts'

/** Below 2^32. Regions must agree on it, so it is the same in every process and every version. */
export function hashOfId({ scope, key }: StateId): number {
  return hash32(key, hash32(scope.text))
}
