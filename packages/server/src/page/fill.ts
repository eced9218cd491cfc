import type { LimitView } from 'sluice'
import type { Policy } from 'sluice/policy'

/** A limit as the page draws it. */
export interface LimitReading extends LimitView {
  /** Milliseconds a whole refill takes; the window that the policy states may differ. */
  readonly fillMs: number
}

/** Adds how long a whole refill takes. The tier that was used is the rule's tier with this capacity and window. */
export function readingOf({ rules }: Policy, view: LimitView): LimitReading {
  const tiers = rules.find(({ name }) => name === view.name)?.tiers ?? []
  const used = tiers.find(({ limit, windowMs }) => limit.capacity === view.limit && (windowMs ?? limit.windowMs) === view.windowMs)
  return { ...view, fillMs: used?.limit.windowMs ?? view.windowMs }
}
