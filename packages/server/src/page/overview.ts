import type { Policy } from 'sluice/policy'
import { readingOf } from './fill.ts'

/** The data that the page needs to draw every limit before the first request: all limits are fresh, so full. */
export function overviewOf(policy: Policy, endpoints: readonly string[]): unknown {
  const limits = policy.rules.flatMap(({ name, mode, tiers }) => {
    const tier = tiers.at(-1)
    if (mode !== 'enforce' || tier === undefined) return []
    const { capacity } = tier.limit
    const windowMs = tier.windowMs ?? tier.limit.windowMs
    return [readingOf(policy, { name, limit: capacity, remaining: capacity, replenishAfterMs: 0, resetAfterMs: 0, windowMs })]
  })
  return { limits, endpoints }
}
