import type { GroupResult } from '../algorithms/group.ts'
import type { Micros } from '../time/micros.ts'
import type { GroupVerdict } from './store.ts'

/** What a store answers where the reference driver decided. */
export function verdictOf({ outcome, retryAfter, calls }: GroupResult, at: Micros): GroupVerdict {
  return { outcome, allowed: outcome === 'allowed', at, ...(retryAfter === undefined ? {} : { retryAfter }), calls, source: 'store' }
}
