import type { Policy, Rule, StoreKind } from 'sluice/policy'

type Tokens = number | 'unbounded'

/** The meaning of a rule, as `sluice check --json` and the service report it. Fields that do not apply are undefined. */
export interface RuleFacts {
  readonly name: string
  readonly mode: string
  readonly match: {
    readonly methods: readonly string[] | undefined
    readonly path: string | undefined
    readonly hosts: readonly string[] | undefined
    readonly when: readonly { readonly source: string; readonly value: string }[] | undefined
  }
  readonly exempt: readonly string[] | undefined
  /** One entry for each part of the key. */
  readonly key: readonly string[]
  readonly tiers: readonly { readonly label: string; readonly algorithm: string; readonly capacity: number; readonly windowMs: number }[]
  readonly cost: string
  readonly sample: number | undefined
  readonly onStoreFailure: string
  /** The most tokens above its limit that it may admit, and that the policy allows; undefined for a rule that denies nothing. */
  readonly bound: { running: Tokens; storeDown: Tokens; text: string; budget: Tokens | undefined } | undefined
}

/** @param kind the kind of store that bounds are computed for */
export function ruleFacts(policy: Policy, rule: Rule, kind: StoreKind): RuleFacts {
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
    key: key.map((sources) => sources.map((source) => source.text).join(' or ')),
    tiers: tiers.map(({ label, limit, windowMs = limit.windowMs }) => ({
      label: label === '' ? 'any' : label,
      algorithm: limit.algorithm.name,
      capacity: limit.capacity,
      windowMs,
    })),
    cost: cost.text,
    sample,
    onStoreFailure,
    bound: mode === 'enforce' ? { running: tokens(running), storeDown: tokens(storeDown), text, budget } : undefined,
  }
}

/** JSON cannot express infinity. */
function tokens(count: number): Tokens {
  return count === Infinity ? 'unbounded' : count
}
