import type { Bound, Policy, Rule, StoreKind } from 'sluice/policy'

/** The meaning of a rule, as `sluice check --json` and the service report it. */
export interface RuleFacts {
  readonly name: string
  readonly mode: string
  readonly match: {
    readonly methods?: readonly string[]
    readonly path?: string
    readonly hosts?: readonly string[]
    readonly when?: readonly { readonly source: string; readonly value: string }[]
  }
  readonly exempt?: readonly string[]
  /** One entry for each part of the key. */
  readonly key: readonly string[]
  readonly tiers: readonly { readonly label: string; readonly algorithm: string; readonly capacity: number; readonly windowMs: number }[]
  readonly cost: string
  readonly sample?: number
  readonly onStoreFailure: string
  /** The most tokens above its limit that it may admit; absent for a rule that denies nothing. */
  readonly bound?: {
    readonly running: number | 'unbounded'
    readonly storeDown: number | 'unbounded'
    readonly text: string
    /** The most that the policy allows. */
    readonly budget?: number | 'unbounded'
  }
}

/** @param kind the kind of store that bounds are computed for */
export function ruleFacts(policy: Policy, rule: Rule, kind: StoreKind): RuleFacts {
  const { name, mode, match, exempt, key, tiers, cost, sample, onStoreFailure, maxOvergrant } = rule
  const { path, methods, hosts, when } = match
  return {
    name,
    mode,
    match: {
      ...(methods === undefined ? {} : { methods: [...methods] }),
      ...(path === undefined ? {} : { path: path.text }),
      ...(hosts === undefined ? {} : { hosts: hosts.map((host) => host.text) }),
      ...(when.length === 0 ? {} : { when: when.map(({ source, value }) => ({ source: source.text, value })) }),
    },
    ...(exempt === undefined || exempt.length === 0 ? {} : { exempt: exempt.map(({ text }) => text) }),
    key: key.map((sources) => sources.map((source) => source.text).join(' or ')),
    tiers: tiers.map(({ label, limit, windowMs }) => ({
      label: label === '' ? 'any' : label,
      algorithm: limit.algorithm.name,
      capacity: limit.capacity,
      windowMs: windowMs ?? limit.windowMs,
    })),
    cost: cost.text,
    ...(sample === undefined ? {} : { sample }),
    onStoreFailure,
    ...(mode === 'enforce' ? { bound: boundFacts(policy.boundOf(rule, kind), maxOvergrant) } : {}),
  }
}

function boundFacts({ running, storeDown, text }: Bound, budget: number | undefined): NonNullable<RuleFacts['bound']> {
  return { running: told(running), storeDown: told(storeDown), text, ...(budget === undefined ? {} : { budget: told(budget) }) }
}

/** JSON cannot express infinity. */
function told(tokens: number): number | 'unbounded' {
  return tokens === Infinity ? 'unbounded' : tokens
}
