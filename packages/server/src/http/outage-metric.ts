import type { Observer, ReadMetric } from 'sluice/observe'
import type { Policy, Rule, StoreKind } from 'sluice/policy'
import { QUIET_MS } from '../stores/store-health.ts'
import { counter } from './service-metrics.ts'

const HELP = 'Requests that a rule let pass without the store after its bound had ended: the outage is longer than failure.outage.'

/**
 * Counts, by rule, the requests that pass in an outage longer than `failure.outage`. The bounds of excess tokens hold only up to that
 * length. A decision of the store does not end an outage while other calls fail: it may concern only one key or one node.
 */
export function createOutage(policyNow: () => Policy, kind: StoreKind, now: () => number = () => performance.now()) {
  const counts = new Map<string, number>()
  /** The begin of the outage, and the store's first decision after the last failure. */
  let [since, answered]: [number | undefined, number | undefined] = [undefined, undefined]
  let [known, bounded]: [Policy | undefined, ReadonlySet<string>] = [undefined, new Set()]
  /** Rules that let a finite number of requests pass in an outage, and not zero. */
  const boundedRules = (): ReadonlySet<string> => {
    const policy = policyNow()
    if (policy !== known) [known, bounded] = [policy, new Set(policy.rules.filter((rule) => isBounded(policy, rule, kind)).map(nameOf))]
    return bounded
  }
  const metric: ReadMetric = counter('sluice_overgrant_bound_exceeded_total', HELP, () => {
    // Prometheus sees no increase in a counter whose first value is above 0.
    for (const rule of boundedRules()) if (!counts.has(rule)) counts.set(rule, 0)
    return [...counts].map(([rule, value]) => ({ labels: { rule }, value }))
  })
  const observer: Observer = {
    onDecision({ decision: { allowed, degraded, source }, results }) {
      if (degraded === undefined) {
        // Only a decision of the store itself shows that it answers.
        if (since !== undefined && source === 'store' && results.length > 0) answered ??= now()
        return
      }
      const at = now()
      if (since === undefined || (answered !== undefined && at - answered > QUIET_MS)) since = at
      answered = undefined
      if (!allowed || at - since <= (policyNow().failure.outageMs ?? Infinity)) return
      for (const { rule } of results) if (boundedRules().has(rule)) counts.set(rule, (counts.get(rule) ?? 0) + 1)
    },
  }
  return { metric, observer }
}

function isBounded(policy: Policy, rule: Rule, kind: StoreKind): boolean {
  const { storeDown } = policy.boundOf(rule, kind)
  return rule.mode === 'enforce' && storeDown > 0 && storeDown < Infinity
}

function nameOf({ name }: Rule): string {
  return name
}
