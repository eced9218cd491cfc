import type { Store } from 'sluice'
import type { ReadMetric } from 'sluice/observe'
import type { HeldPolicy } from './held-policy.ts'

/** What a service can say of itself when it is scraped. */
export function serviceMetrics(store: Store & { readonly size?: number }, policy: () => HeldPolicy): readonly ReadMetric[] {
  return [
    {
      name: 'sluice_keys',
      help: 'States that a store in this process holds.',
      type: 'gauge',
      read: () => (store.size === undefined ? [] : [{ labels: { store: store.name ?? 'store' }, value: store.size }]),
    },
    {
      name: 'sluice_overgrant_bound',
      help: 'Tokens that a rule may admit above its limit while the store decides; a rule that stops nobody has no bound.',
      type: 'gauge',
      read: () =>
        policy()
          .current.rules.filter(({ mode }) => mode !== 'off')
          .map(({ name, mode }) => ({ labels: { rule: name }, value: mode === 'enforce' ? 0 : Infinity })),
    },
    {
      name: 'sluice_policy_info',
      help: 'The policy at work: its dialect, how many were taken in since the start, and a hash of its text.',
      type: 'gauge',
      read: () => {
        const { current, loaded } = policy()
        return [{ labels: { version: String(loaded), dialect: current.dialect, hash: current.hash }, value: 1 }]
      },
    },
    {
      name: 'sluice_policy_rejected_total',
      help: 'Policies that were refused; the last good one stayed.',
      type: 'counter',
      read: () => [{ value: policy().rejected }],
    },
  ]
}
