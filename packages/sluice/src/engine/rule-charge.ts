import type { AnyLimit, MicroTokens } from '../algorithms/algorithm.ts'
import { MICRO, microCost } from '../algorithms/decimal.ts'
import { canonicalValue } from '../identity/source.ts'
import type { Request } from '../identity/request.ts'
import type { NamedLimit } from '../limiter/decision-of.ts'
import { phaseOf } from '../limiter/phase.ts'
import { composeKey, scopeOf } from '../keys/encode.ts'
import { keyOf, type KeyPart, type KeyValues, type Rule, type Tier, tierOf } from '../policy/model/rule.ts'
import type { Call, FailurePolicy, Scope } from '../stores/store.ts'
import { NOBODY, type Pseudonym } from './loaded.ts'

/** The limiter name in the state ids of every policy. It is constant, so that a changed policy finds the states of the previous one. */
export const RULE_SET = 'policy'

/** The charge of one rule in one decision. */
export interface RuleCharge {
  readonly rule: Rule
  readonly tier: Tier
  readonly call: Call
  /** The values of the key, before pseudonyms replace them; undefined for absent ones. */
  readonly values: KeyValues
}

/** The values that all charges of one decision use. */
export interface ChargeContext {
  /** The limit that replaces the tier's limit for this key; undefined without an override. */
  override(rule: Rule, values: KeyValues): AnyLimit | undefined
  /** Replaces a value that identifies somebody, in keys. Absent: keys contain the value itself. */
  readonly pseudonym: Pseudonym | undefined
  /** The cost that the caller passed, instead of the rules' cost. */
  readonly cost: MicroTokens | undefined
}

export function chargeOf(rule: Rule, request: Request, context: ChargeContext): RuleCharge | undefined {
  const tier = tierOf(rule, request)
  if (tier === undefined) return undefined
  return charge(rule, tier, keyOf(rule, request), context.cost ?? microCost(rule.cost.of(request)), context)
}

/**
 * The charge of a rule for a key that the caller passes. The key counts as a value of the first source (such as a header) of the rule's
 * key.
 */
export function chargeOfKey(rule: Rule, key: string, context: ChargeContext): RuleCharge | undefined {
  const tier = tierOf(rule, NOBODY) ?? rule.tiers.at(-1)
  if (tier === undefined) return undefined
  return charge(rule, tier, valuesOf(rule, 0, key), context.cost ?? microCost(rule.cost.unknown), context)
}

/** The values of a rule's key, if `key` comes from the source at this index. The values of all other sources are absent. */
export function valuesOf(rule: Rule, index: number, key: string): KeyValues {
  const values: (string | undefined)[] = []
  for (const sources of rule.key)
    for (const source of sources) values.push(values.length === index ? (canonicalValue(source, key) ?? key) : undefined)
  return values
}

/** Multiplies a charge by the number of requests that it stands for, up to the limit's capacity. Above the capacity it could never pass. */
export function timesSample(counted: RuleCharge, sample: number): RuleCharge {
  const { call } = counted
  const capacity = Math.max(call.cost, Math.round(call.limit.capacity * MICRO))
  return { ...counted, call: { ...call, cost: Math.min(call.cost * sample, capacity) } }
}

export function charge(rule: Rule, tier: Tier, values: KeyValues, cost: MicroTokens, context: ChargeContext): RuleCharge {
  const limit = context.override(rule, values) ?? tier.limit
  const scope = scopeOfTier(rule, tier, limit)
  const { pseudonym } = context
  const key = composeKey(pseudonym === undefined ? values : pseudonyms(rule.key.flat(), values, pseudonym))
  return { rule, tier, values, call: { id: { scope, key }, limit, cost, phase: phaseOf(limit, key) } }
}

/** Replaces the values by pseudonyms. The source's name is hashed too, so one text from two sources has two pseudonyms. */
export function pseudonyms(sources: KeyPart, values: KeyValues, pseudonym: Pseudonym): KeyValues {
  return values.map((value, index) => {
    const source = sources[index]
    return value === undefined || source?.neutral === true ? value : pseudonym(`${source?.text ?? ''}\0${value}`)
  })
}

/**
 * The limit of a charge as decisions report it. A tier is one of the limits of a rule, with its conditions. If the policy states a period
 * for the tier, that period is reported as the window. For an override, the override's own window is reported.
 */
export function namedOf({ rule: { name }, tier, call: { limit } }: RuleCharge): NamedLimit {
  return tier.windowMs === undefined || limit !== tier.limit ? { name, limit } : { name, limit, windowMs: tier.windowMs }
}

/** The scopes (first parts of state ids) of each tier, by the tag of an algorithm: an override may use another algorithm than the tier. */
const scopes = new WeakMap<Tier, Map<string, Scope>>()

/**
 * Returns always the same scope (the first part of a state id) for a tier and an algorithm, because stores compare scopes by identity. Each
 * tier of a rule has its own states. In their scope `#` separates the rule's name from the tier's, because no rule's name contains it. An
 * override uses the states of the tier, unless its algorithm differs.
 */
function scopeOfTier(rule: Rule, tier: Tier, { algorithm: { tag } }: AnyLimit): Scope {
  let ofTier = scopes.get(tier)
  if (ofTier === undefined) scopes.set(tier, (ofTier = new Map<string, Scope>()))
  let scope = ofTier.get(tag)
  if (scope === undefined) ofTier.set(tag, (scope = scopeOf(RULE_SET, tier.label === '' ? rule.name : `${rule.name}#${tier.label}`, tag)))
  return scope
}

/** The enforcing charges, the most restrictive first: the one that admits the fewest requests in the long run. */
export function enforcing(charges: readonly RuleCharge[]): readonly RuleCharge[] {
  const enforced = charges.every(enforces) ? charges : charges.filter(enforces)
  return enforced.length < 2 ? enforced : enforced.toSorted((a, b) => admissions(a.call) - admissions(b.call))
}

function enforces({ rule }: RuleCharge): boolean {
  return rule.mode === 'enforce'
}

/** The failure policy of a group: the strictest one of its rules. */
export function policyOf(charges: readonly RuleCharge[]): FailurePolicy {
  let policy: FailurePolicy = 'allow'
  for (const { rule } of charges) if (STRICTNESS[rule.onStoreFailure] > STRICTNESS[policy]) policy = rule.onStoreFailure
  return policy
}

const STRICTNESS: Readonly<Record<FailurePolicy, number>> = { allow: 0, local: 1, deny: 2 }

/**
 * How many requests of this cost a limit admits per microsecond in the long run. Used only to order charges. A settlement may have a cost
 * of 0. It counts as the least cost above 0, because quotients by 0 cannot be ordered.
 */
function admissions({ limit, cost }: { readonly limit: AnyLimit; readonly cost: number }): number {
  const { n, m } = limit.algorithm.envelope(limit.plan)
  return n / m / Math.max(1, cost)
}
