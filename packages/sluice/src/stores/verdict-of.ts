import type { GroupResult } from '../algorithms/group.ts'
import type { Micros } from '../time/micros.ts'
import type { Decided } from './store.ts'

/** A store's verdict for a group that the reference driver decided. */
export function verdictOf({ outcome, retryAfter, calls }: GroupResult, at: Micros): Decided {
  return { outcome, at, retryAfter, calls }
}
