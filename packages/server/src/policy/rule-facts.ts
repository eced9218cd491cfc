import { type LimitFacts, limitFacts, type Policy, type Rule, type StoreKind } from 'sluice/policy'

export type RuleFacts = ReturnType<typeof ruleFacts>

/**
 * Fields that do not apply are undefined.
 * @param kind the kind of store, for which `bound` is computed
 */
export function ruleFacts(policy: Policy, rule: Rule, kind: StoreKind) {
  const { name, mode, match, exempt, key, tiers, cost, sample, onStoreFailure, maxOvergrant } = rule
  const { path, methods, hosts, when } = match
  const { running, storeDown, text } = policy.boundOf(rule, kind)
  const budget = maxOvergrant === undefined ? undefined : tokens(maxOvergrant)
  return {
    name,
    mode,
    match: {
      methods: methods === undefined ? undefined : [...methods],
      path: path?.text,
      hosts: hosts?.map((host) => host.text),
      when: when.length === 0 ? undefined : when.map(({ source, value }) => ({ source: source.text, value })),
    },
    exempt: exempt === undefined || exempt.length === 0 ? undefined : exempt.map((one) => one.text),
    /** One entry for each part of the key. */
    key: key.map((sources) => sources.map((source) => source.text).join(' or ')),
    tiers: tiers.map(({ label, limit, windowMs }): LimitFacts & { readonly label: string } => ({
      label: label === '' ? 'any' : label,
      ...limitFacts(limit, windowMs),
    })),
    cost: cost.text,
    sample,
    onStoreFailure,
    /** Tokens that may be admitted above the limit; `budget` is the policy's bound on them. Undefined for a rule that denies nothing. */
    bound: mode === 'enforce' ? { running: tokens(running), storeDown: tokens(storeDown), text, budget } : undefined,
  }
}

/** JSON cannot express infinity. */
function tokens(count: number): number | 'unbounded' {
  return count === Infinity ? 'unbounded' : count
}
