import type { AnyLimit } from '../algorithms/algorithm.ts'
import type { StateId, StateProgram, Store } from '../stores/store.ts'
import type { Micros } from '../time/micros.ts'

/** A store in this process, such as `memoryStore()`. */
export interface RewritingStore extends Store {
  now(): Micros
  rewrite(id: StateId, algorithm: AnyLimit['algorithm'], program: StateProgram): boolean
}

export function isRewriting(store: Store): store is RewritingStore {
  const { now, rewrite } = store as Partial<RewritingStore>
  return typeof now === 'function' && typeof rewrite === 'function'
}
