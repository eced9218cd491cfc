import type { Policy } from 'sluice/policy'

/** What the page needs to draw every limit before the first request: fresh, so full. */
export function overviewOf(policy: Policy, endpoints: readonly string[]): unknown {
  const limits = policy.rules
    .filter((rule) => rule.mode === 'enforce')
    .map(({ name, tiers }) => {
      const limit = tiers.at(-1)?.limit
      const windowMs = limit?.windowMs ?? 0
      return { name, limit: limit?.capacity ?? 0, remaining: limit?.capacity ?? 0, resetAfterMs: 0, windowMs, fillMs: windowMs }
    })
  return { limits, endpoints }
}
