import type { AnyLimit, MicroTokens } from '../algorithms/algorithm.ts'
import { MICRO, microCost } from '../algorithms/decimal.ts'
import { canonicalValue } from '../identity/source.ts'
import type { Request } from '../identity/request.ts'
import type { NamedLimit } from '../limiter/decision-of.ts'
import { phaseOf } from '../limiter/phase.ts'
import { composeKey, scopeOf } from '../keys/encode.ts'
import { keyOf, type Rule, type Tier, tierOf } from '../policy/model/rule.ts'
import type { Call, CallGroup, FailurePolicy, Scope } from '../stores/store.ts'
import type { Pseudonym } from './loaded.ts'

/** The limiter name of all policies' states, so that a changed policy finds the states of the previous one. */
export const RULE_SET = 'policy'

/** What one rule charges in one decision. */
export interface RuleCharge {
  readonly rule: Rule
  readonly tier: Tier
  readonly named: NamedLimit
  readonly call: Call
  /** The plain values of the key; undefined for absent ones. */
  readonly values: readonly (string | undefined)[]
}

/** What all charges of one decision share. */
export interface ChargeContext {
  /** The limit that overrides the tier's for this key. */
  override(rule: Rule, values: RuleCharge['values']): AnyLimit | undefined
  /** Replaces an attributable value in keys. Absent: keys hold the value itself. */
  readonly pseudonym: Pseudonym | undefined
}

export function chargeOf(rule: Rule, request: Request, cost: MicroTokens | undefined, context: ChargeContext): RuleCharge | undefined {
  const tier = tierOf(rule, request)
  return tier === undefined ? undefined : charge(rule, tier, keyOf(rule, request), cost ?? microCost(rule.cost.of(request)), context)
}

/** What a rule charges a key that the caller passes. The key counts as a value of the first source of the rule's key. */
export function chargeOfKey(
  rule: Rule,
  key: string,
  request: Request,
  cost: MicroTokens | undefined,
  context: ChargeContext,
): RuleCharge | undefined {
  const tier = tierOf(rule, request) ?? rule.tiers.at(-1)
  return tier === undefined ? undefined : charge(rule, tier, valuesOf(rule, 0, key), cost ?? microCost(rule.cost.unknown), context)
}

/** The values of a rule's key if `key` comes from the source at this index; the others count as absent. */
export function valuesOf(rule: Rule, index: number, key: string): RuleCharge['values'] {
  const values: (string | undefined)[] = []
  for (const sources of rule.key)
    for (const source of sources) values.push(values.length === index ? (canonicalValue(source, key) ?? key) : undefined)
  return values
}

/** Multiplies a charge by the requests that it represents, up to the limit's capacity: above it, it could never pass. */
export function timesSample(counted: RuleCharge, sample: number): RuleCharge {
  const { call } = counted
  const capacity = Math.max(call.cost, Math.round(call.limit.capacity * MICRO))
  return { ...counted, call: { ...call, cost: Math.min(call.cost * sample, capacity) } }
}

export function charge(rule: Rule, tier: Tier, values: RuleCharge['values'], cost: MicroTokens, context: ChargeContext): RuleCharge {
  const limit = context.override(rule, values) ?? tier.limit
  const { scope, named } = identifiedBy(rule, tier, limit)
  const key = composeKey(context.pseudonym === undefined ? values : pseudonyms(rule.key.flat(), values, context.pseudonym))
  return { rule, tier, named, values, call: { id: { scope, key }, limit, cost, phase: phaseOf(limit, key) } }
}

/** Replaces the values by pseudonyms. The source's name is hashed too: one text from two sources has two pseudonyms. */
export function pseudonyms(sources: Rule['key'][number], values: RuleCharge['values'], pseudonym: Pseudonym): RuleCharge['values'] {
  return values.map((value, index) => {
    const source = sources[index]
    return value === undefined || source?.neutral === true ? value : pseudonym(`${source?.text ?? ''}\0${value}`)
  })
}

/** What all charges of a tier share. */
interface Identified {
  readonly scope: Scope
  readonly named: NamedLimit
  /** By tag: limits that override the tier's may use other algorithms. */
  readonly scopes: Map<string, Scope>
}

const identified = new WeakMap<Tier, Identified>()

/**
 * Returns one scope per tier, because stores compare scopes by identity. Tiers of one rule have states of their own; no rule's name
 * contains `#`. A limit that overrides the tier's uses the same states, unless its algorithm differs.
 */
function identifiedBy(rule: Rule, tier: Tier, limit: AnyLimit): Pick<Identified, 'scope' | 'named'> {
  const known = identified.get(tier) ?? identify(rule, tier)
  if (limit === tier.limit) return known
  const { tag } = limit.algorithm
  const scope = known.scopes.get(tag) ?? scopeOfTier(rule, tier, limit)
  known.scopes.set(tag, scope)
  return { scope, named: { name: rule.name, limit } }
}

function identify(rule: Rule, tier: Tier): Identified {
  const { limit, windowMs } = tier
  const scope = scopeOfTier(rule, tier, limit)
  const named = { name: rule.name, limit, ...(windowMs === undefined ? {} : { windowMs }) }
  const made = { scope, named, scopes: new Map([[limit.algorithm.tag, scope]]) }
  identified.set(tier, made)
  return made
}

function scopeOfTier(rule: Rule, { label }: Tier, limit: AnyLimit): Scope {
  return scopeOf(RULE_SET, label === '' ? rule.name : `${rule.name}#${label}`, limit.algorithm.tag)
}

/** The enforcing charges, the most restrictive first: least rate per cost. */
export function enforcing(charges: readonly RuleCharge[]): readonly RuleCharge[] {
  const enforced = charges.every(enforces) ? charges : charges.filter(enforces)
  return enforced.length < 2 ? enforced : enforced.toSorted((a, b) => admissions(a.call) - admissions(b.call))
}

function enforces({ rule }: RuleCharge): boolean {
  return rule.mode === 'enforce'
}

export function groupOf(charges: readonly RuleCharge[]): CallGroup {
  return { calls: charges.map(({ call }) => call) }
}

/** The failure policy of a group: the strictest of its rules'. */
export function policyOf(charges: readonly RuleCharge[]): FailurePolicy {
  let policy: FailurePolicy = 'allow'
  for (const { rule } of charges) if (STRICTNESS[rule.onStoreFailure] > STRICTNESS[policy]) policy = rule.onStoreFailure
  return policy
}

const STRICTNESS: Readonly<Record<FailurePolicy, number>> = { allow: 0, local: 1, deny: 2 }

/** Requests of this cost per microsecond in the long run. Used only for ordering. */
function admissions({ limit, cost }: { readonly limit: AnyLimit; readonly cost: number }): number {
  const { n, m } = limit.algorithm.envelope(limit.plan)
  return n / m / cost
}
