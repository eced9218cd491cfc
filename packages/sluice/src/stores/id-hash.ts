import { hash32 } from '../decision/jitter.ts'
import type { StateId } from './store.ts'

/** A hash of a state's name, below 2^32. It is the same in every process and every version, because regions must agree on it. */
export function hashOfId({ scope, key }: StateId): number {
  return hash32(key, hash32(scope.text))
}
