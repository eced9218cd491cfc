import { hash32 } from '../decision/jitter.ts'
import type { StateId } from './store.ts'

/** A hash of the name of a state, below 2^32: the same in every process, and in every version, because regions must agree on it. */
export function hashOfId({ scope, key }: StateId): number {
  return hash32(key, hash32(scope.text))
}
