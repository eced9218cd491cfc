import type { LimitView } from 'sluice'
import type { Policy } from 'sluice/policy'

/**
 * A limit as the page draws it, with the milliseconds that a whole refill takes: the window that the policy states may differ. The tier that
 * was used is the rule's tier with this capacity and window.
 */
export function readingOf({ rules }: Policy, view: LimitView): LimitView & { readonly fillMs: number } {
  const tiers = rules.find(({ name }) => name === view.name)?.tiers ?? []
  const used = tiers.find(({ limit, windowMs }) => limit.capacity === view.limit && (windowMs ?? limit.windowMs) === view.windowMs)
  return { ...view, fillMs: used?.limit.windowMs ?? view.windowMs }
}

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
