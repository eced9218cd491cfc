import type { Store } from 'sluice'
import type { ReadMetric } from 'sluice/observe'
import type { Bound, Rule } from 'sluice/policy'
import type { RemoteStore } from 'sluice/remote'
import type { HeldPolicy } from '../policy/held-policy.ts'
import { storeKindOf } from '../stores/ring.ts'

const BREAKER = new Map<string | undefined, number>(Object.entries({ closed: 0, 'half-open': 1, open: 2 }))
const BREAKER_HELP = 'Whether the store is called: 0 closed (yes), 1 half-open (one call, as a probe), 2 open (no).'
const BOUND_HELP = 'Tokens that a rule may admit above its limit while the store decides; a rule that stops nobody has no bound.'
const BOUND_DOWN_HELP = 'As sluice_overgrant_bound, while the store cannot decide and the onStoreFailure of the rule does.'
const KEYS_HELP = 'States in the store. Of a store on a server it is an estimate, up to a minute old.'
const LEASE_HELP = 'Tokens that this process has on lease.'
const REJECTED_HELP = 'Policies that were refused; the last good one stayed.'
const RULE_HELP = 'The rules at work, and what kinds of source their keys come from.'
const POLICY_HELP = 'The policy at work: its dialect, how many were taken in since the start, and a hash of its text.'

/** @param read its labels must have few values, and never an identity */
export function gauge(name: string, help: string, read: ReadMetric['read']): ReadMetric {
  return { name, help, type: 'gauge', read }
}

export function counter(name: string, help: string, read: ReadMetric['read']): ReadMetric {
  return { name, help, type: 'counter', read }
}

/** @param store the store without its ring */
export function serviceMetrics(
  store: Store & { readonly size?: number },
  now: () => { readonly policy: HeldPolicy; readonly ring: RemoteStore | undefined; readonly keys: number | undefined },
): readonly ReadMetric[] {
  const kind = storeKindOf(store)
  const ofStore = { store: store.name }
  const active = (): readonly Rule[] => now().policy.current.rules.filter(({ mode }) => mode !== 'off')
  const bounds = (when: keyof Pick<Bound, 'running' | 'storeDown'>) => () =>
    active().map((rule) => {
      const value = rule.mode === 'enforce' ? now().policy.current.boundOf(rule, kind)[when] : Infinity
      return { labels: { rule: rule.name }, value }
    })
  const one = (value: number | undefined, labels: Readonly<Record<string, string>> = ofStore) =>
    value === undefined ? [] : [{ labels, value }]
  return [
    gauge('sluice_keys', KEYS_HELP, () => one(store.size ?? now().keys)),
    gauge('sluice_breaker_state', BREAKER_HELP, () => one(BREAKER.get(now().ring?.breakerState))),
    gauge('sluice_lease_tokens', LEASE_HELP, () => one(now().ring?.leasedTokens, { state: 'leased' })),
    gauge('sluice_overgrant_bound', BOUND_HELP, bounds('running')),
    gauge('sluice_overgrant_bound_store_down', BOUND_DOWN_HELP, bounds('storeDown')),
    gauge('sluice_rule_info', RULE_HELP, () =>
      active().map((rule) => ({ labels: { rule: rule.name, identifier_kind: identifierKind(rule) }, value: 1 })),
    ),
    gauge('sluice_policy_info', POLICY_HELP, () => {
      const { current, loaded } = now().policy
      return [{ labels: { version: String(loaded), dialect: current.dialect, hash: current.hash }, value: 1 }]
    }),
    counter('sluice_policy_rejected_total', REJECTED_HELP, () => [{ value: now().policy.rejected }]),
  ]
}

/** For example `header,method` for a key of two parts, and `jwt|ip` for a part with two alternative sources. */
function identifierKind({ key }: Rule): string {
  const kinds = key.map((sources) => [...new Set(sources.map(({ text }) => text.split(':')[0]))].join('|'))
  return kinds.length === 0 ? 'none' : kinds.join(',')
}
