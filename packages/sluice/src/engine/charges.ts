import type { AnyLimit, MicroTokens } from '../algorithms/algorithm.ts'
import { microCost } from '../algorithms/decimal.ts'
import type { Request } from '../identity/request.ts'
import type { NamedLimit } from '../limiter/decide.ts'
import { phaseOf } from '../limiter/phase.ts'
import { composeKey, scopeOf } from '../keys/encode.ts'
import { keyOf, type OnStoreFailure, type Rule, type Tier, tierOf } from '../policy/rule.ts'
import type { Call, CallGroup, Scope } from '../stores/store.ts'

/** Names the states of all policies: a changed policy finds the states of the one before it. */
export const RULE_SET = 'policy'

/** One rule's part in one decision. */
export interface Charge {
  readonly rule: Rule
  readonly tier: Tier
  readonly named: NamedLimit
  readonly call: Call
  /** The values of the key, absent ones as undefined. */
  readonly values: readonly (string | undefined)[]
}

/** What a rule charges a request, or undefined where none of its tiers applies. */
export function chargeOf(rule: Rule, request: Request, cost: MicroTokens | undefined): Charge | undefined {
  const tier = tierOf(rule, request)
  return tier === undefined ? undefined : charge(rule, tier, keyOf(rule, request), cost ?? microCost(rule.cost.of(request)))
}

/**
 * What a rule charges a key that is given outright: it stands for the first source of the rule's key, so that the state is the
 * one that requests with this value have.
 */
export function chargeOfKey(rule: Rule, key: string, request: Request, cost: number | undefined): Charge | undefined {
  const tier = tierOf(rule, request) ?? rule.tiers.at(-1)
  const values: (string | undefined)[] = []
  for (const sources of rule.key) for (const _ of sources) values.push(values.length === 0 ? key : undefined)
  return tier === undefined ? undefined : charge(rule, tier, values, cost ?? microCost(rule.cost.unknown))
}

/** What a rule charges a key of these values in one of its tiers. */
export function charge(rule: Rule, tier: Tier, values: readonly (string | undefined)[], cost: number): Charge {
  const { limit } = tier
  const { scope, named } = identifiedBy(rule, tier)
  const key = composeKey(values)
  return { rule, tier, named, values, call: { id: { scope, key }, limit, cost, phase: phaseOf(limit, key) } }
}

/** What all charges of a tier have in common. */
interface Identified {
  readonly scope: Scope
  readonly named: NamedLimit
}

const identified = new WeakMap<Tier, Identified>()

/** One scope per tier, for stores know scopes by identity. Tiers of one rule are limits of their own: `#` is in no rule's name. */
function identifiedBy(rule: Rule, tier: Tier): Identified {
  const known = identified.get(tier)
  if (known !== undefined) return known
  const { limit, label, windowMs } = tier
  const made = {
    scope: scopeOf(RULE_SET, label === '' ? rule.name : `${rule.name}#${label}`, limit.algorithm.tag),
    named: { name: rule.name, limit, ...(windowMs === undefined ? {} : { windowMs }) },
  }
  identified.set(tier, made)
  return made
}

/** The enforcing charges, the most restrictive first: least rate per cost. */
export function enforcing(charges: readonly Charge[]): readonly Charge[] {
  const enforced = charges.every(enforces) ? charges : charges.filter(enforces)
  return enforced.length < 2 ? enforced : enforced.toSorted((a, b) => admissions(a.call) - admissions(b.call))
}

function enforces({ rule }: Charge): boolean {
  return rule.mode === 'enforce'
}

/** All of them or none; where the store cannot answer, the strictest of their policies holds. */
export function groupOf(charges: readonly Charge[]): CallGroup {
  let onFailure: OnStoreFailure = 'allow'
  for (const { rule } of charges) if (STRICTNESS[rule.onStoreFailure] > STRICTNESS[onFailure]) onFailure = rule.onStoreFailure
  return { calls: charges.map(({ call }) => call), onFailure }
}

const STRICTNESS: Readonly<Record<OnStoreFailure, number>> = { allow: 0, local: 1, deny: 2 }

/** Such requests per microsecond, in the long run: only to order by. */
function admissions({ limit, cost }: { readonly limit: AnyLimit; readonly cost: number }): number {
  const { n, m } = limit.algorithm.envelope(limit.plan)
  return n / m / cost
}
