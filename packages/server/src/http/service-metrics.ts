import type { Store } from 'sluice'
import type { ReadMetric } from 'sluice/observe'
import type { Bound, Rule } from 'sluice/policy'
import type { RemoteStore } from 'sluice/remote'
import type { HeldPolicy } from '../policy/held-policy.ts'
import { storeKindOf } from '../stores/store-kind.ts'

/** The metrics that a service computes at each scrape. */
export function serviceMetrics(
  store: Store & { readonly size?: number },
  policy: () => HeldPolicy,
  ring: () => RemoteStore | undefined,
): readonly ReadMetric[] {
  const kind = storeKindOf(store)
  const active = (): readonly Rule[] => policy().current.rules.filter(({ mode }) => mode !== 'off')
  const bounds = (tokens: (bound: Bound) => number) => () =>
    active().map((rule) => ({
      labels: { rule: rule.name },
      value: rule.mode === 'enforce' ? tokens(policy().current.boundOf(rule, kind)) : Infinity,
    }))
  return [
    {
      name: 'sluice_keys',
      help: 'States that a store in this process holds.',
      type: 'gauge',
      read: () => (store.size === undefined ? [] : [{ labels: { store: store.name }, value: store.size }]),
    },
    {
      name: 'sluice_breaker_state',
      help: 'Whether the store is called: 0 closed (yes), 1 half-open (one call, as a probe), 2 open (no).',
      type: 'gauge',
      read: () => gauge(ring(), ({ breakerState }) => ({ labels: { store: store.name }, value: BREAKER[breakerState] })),
    },
    {
      name: 'sluice_lease_tokens',
      help: 'Tokens that this process has on lease.',
      type: 'gauge',
      read: () => gauge(ring(), ({ leasedTokens }) => ({ labels: { state: 'leased' }, value: leasedTokens })),
    },
    {
      name: 'sluice_overgrant_bound',
      help: 'Tokens that a rule may admit above its limit while the store decides; a rule that stops nobody has no bound.',
      type: 'gauge',
      read: bounds(({ running }) => running),
    },
    {
      name: 'sluice_overgrant_bound_store_down',
      help: 'As sluice_overgrant_bound, while the store cannot decide and the onStoreFailure of the rule does.',
      type: 'gauge',
      read: bounds(({ storeDown }) => storeDown),
    },
    {
      name: 'sluice_rule_info',
      help: 'The rules at work, and what kinds of source their keys come from.',
      type: 'gauge',
      read: () => active().map((rule) => ({ labels: { rule: rule.name, identifier_kind: identifierKind(rule) }, value: 1 })),
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

const BREAKER = { closed: 0, 'half-open': 1, open: 2 } as const

function gauge<T>(ring: RemoteStore | undefined, read: (ring: RemoteStore) => T): readonly T[] {
  return ring === undefined ? [] : [read(ring)]
}

/** Such as `header`, `header,method`, or `jwt|ip` if the first source that has a value counts; `none` for one bucket for all requests. */
function identifierKind({ key }: Rule): string {
  const kinds = key.map((sources) => [...new Set(sources.map(({ text }) => text.split(':')[0]))].join('|'))
  return kinds.length === 0 ? 'none' : kinds.join(',')
}
