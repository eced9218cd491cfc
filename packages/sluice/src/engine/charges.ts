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
  const values = rule.key.flat().map((_, index) => (index === 0 ? key : undefined))
  return tier === undefined ? undefined : charge(rule, tier, values, cost ?? microCost(rule.cost.unknown))
}

function charge(rule: Rule, tier: Tier, values: readonly (string | undefined)[], cost: number): Charge {
  const { limit, windowMs } = tier
  const named = { name: rule.name, limit, ...(windowMs === undefined ? {} : { windowMs }) }
  const key = composeKey(values)
  const call = { id: { scope: scopeFor(rule, tier), key }, limit, cost, phase: phaseOf(limit, key) }
  return { rule, tier, named, values, call }
}

const scopes = new WeakMap<Tier, Scope>()

/** One scope per tier, for stores know scopes by identity. Tiers of one rule are limits of their own: `#` is in no rule's name. */
function scopeFor(rule: Rule, tier: Tier): Scope {
  const known = scopes.get(tier)
  if (known !== undefined) return known
  const made = scopeOf(RULE_SET, tier.label === '' ? rule.name : `${rule.name}#${tier.label}`, tier.limit.algorithm.tag)
  scopes.set(tier, made)
  return made
}

/** The enforcing charges, the most restrictive first: least rate per cost. */
export function enforcing(charges: readonly Charge[]): Charge[] {
  return charges.filter(({ rule }) => rule.mode === 'enforce').sort((a, b) => admissions(a.call) - admissions(b.call))
}

/** All of them or none; where the store cannot answer, the strictest of their policies holds. */
export function groupOf(charges: readonly Charge[]): CallGroup {
  const policies = new Set(charges.map(({ rule }) => rule.onStoreFailure))
  const onFailure = STRICTEST_FIRST.find((policy) => policies.has(policy)) ?? 'deny'
  return { calls: charges.map(({ call }) => call), onFailure }
}

const STRICTEST_FIRST: readonly OnStoreFailure[] = ['deny', 'local', 'allow']

/** Such requests per microsecond, in the long run: only to order by. */
function admissions({ limit, cost }: { readonly limit: AnyLimit; readonly cost: number }): number {
  const { n, m } = limit.algorithm.envelope(limit.plan)
  return n / m / cost
}
