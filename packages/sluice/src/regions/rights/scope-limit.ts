import type { AnyLimit } from '../../algorithms/algorithm.ts'
import { tokenBucketKernel } from '../../algorithms/token-bucket.ts'
import type { Scope } from '../../stores/store.ts'
import { limitNamed, type RegionalLimit } from './limit.ts'

export interface ScopeLimit {
  readonly scope: Scope
  readonly whole: AnyLimit
  readonly limit: RegionalLimit
}

/** Undefined if the limit that `policy` names cannot be divided. */
export function scopeLimit(text: string, policy: string): ScopeLimit | undefined {
  const limit = limitNamed(policy)
  if (limit === undefined) return undefined
  return { scope: { text }, whole: { algorithm: tokenBucketKernel, plan: limit.whole } as unknown as AnyLimit, limit }
}
