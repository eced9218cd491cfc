import type { AnyLimit } from '../../algorithms/algorithm.ts'
import { tokenBucketKernel } from '../../algorithms/token-bucket.ts'
import type { Scope } from '../../stores/store.ts'
import { limitNamed, type RegionalLimit } from './limit.ts'

/** A scope, with the limit of its keys. */
export interface ScopeLimit {
  readonly scope: Scope
  readonly whole: AnyLimit
  readonly limit: RegionalLimit
}

/** A scope with the limit that a peer's policy names; undefined if that limit cannot be divided. */
export function scopeLimit(text: string, policy: string): ScopeLimit | undefined {
  const limit = limitNamed(policy)
  if (limit === undefined) return undefined
  return { scope: { text }, whole: { algorithm: tokenBucketKernel, plan: limit.whole } as unknown as AnyLimit, limit }
}
