import type { Observer, ReadMetric } from 'sluice/observe'
import type { Policy, Rule, StoreKind } from 'sluice/policy'
import { QUIET_MS } from '../stores/store-health.ts'
import { counter } from './service-metrics.ts'

const HELP = 'Requests that a rule let pass without the store after its bound had ended: the outage is longer than failure.outage.'

/**
 * Counts, by rule, the requests that pass while the store fails for longer than the policy's `failure.outage`. The bound of a rule with
 * `onStoreFailure: local` (the most tokens that may pass above its limit) holds for an outage of that length only. Requests of rules
 * without a bound are not counted. An outage may concern only one key or one node, so a decision of the store does not end the outage while
 * other calls fail.
 */
export function createOutage(policyNow: () => Policy, kind: StoreKind, now: () => number = () => performance.now()) {
  const counts = new Map<string, number>()
  /** When the outage began, and when the store first decided after the last failure. */
  let [since, answered]: [number | undefined, number | undefined] = [undefined, undefined]
  let [known, bounded]: [Policy | undefined, ReadonlySet<string>] = [undefined, new Set()]
  /** The names of the rules that let pass a finite number of requests, and not zero, in an outage of `failure.outage`. */
  const boundedRules = (): ReadonlySet<string> => {
    const policy = policyNow()
    if (policy !== known) [known, bounded] = [policy, new Set(policy.rules.filter((rule) => isBounded(policy, rule, kind)).map(nameOf))]
    return bounded
  }
  const metric: ReadMetric = counter('sluice_overgrant_bound_exceeded_total', HELP, () => {
    // Each counter is exported as 0 first, because Prometheus sees no increase in a counter whose first value is above 0.
    for (const rule of boundedRules()) if (!counts.has(rule)) counts.set(rule, 0)
    return [...counts].map(([rule, value]) => ({ labels: { rule }, value }))
  })
  const observer: Observer = {
    onDecision({ decision: { allowed, degraded, source }, results }) {
      if (degraded === undefined) {
        // A denial from memory, or a decision from leased tokens, does not show that the store answers now.
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
