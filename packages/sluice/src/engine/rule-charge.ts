import type { AlgorithmTag, AnyLimit, MicroTokens } from '../algorithms/algorithm.ts'
import { MICRO, microCost } from '../algorithms/decimal.ts'
import { canonicalValue } from '../identity/source.ts'
import type { Request } from '../identity/request.ts'
import type { NamedLimit } from '../limiter/decision-of.ts'
import { phaseOf } from '../limiter/phase.ts'
import { composeKey, scopeOf } from '../keys/encode.ts'
import { keyOf, type KeyPart, type KeyValues, type Rule, type Tier, tierOf } from '../policy/model/rule.ts'
import type { Call, FailurePolicy, Scope, StateId } from '../stores/store.ts'
import { NOBODY, type Pseudonym } from './loaded.ts'

/** The state ids of every policy begin with it. It is constant, so that a changed policy finds the states of the previous one. */
export const RULE_SET = 'policy'

export interface RuleCharge {
  readonly rule: Rule
  readonly tier: Tier
  readonly call: Call
  /** Before pseudonyms replace them; undefined for absent ones. */
  readonly values: KeyValues
}

export interface ChargeContext {
  override(rule: Rule, values: KeyValues): AnyLimit | undefined
  /** Replaces identifying values; absent: keys contain these. */
  readonly pseudonym: Pseudonym | undefined
  /** Replaces the rules' cost. */
  readonly cost: MicroTokens | undefined
}

export function chargeOf(rule: Rule, request: Request, context: ChargeContext): RuleCharge | undefined {
  const tier = tierOf(rule, request)
  if (tier === undefined) return undefined
  return charge(rule, tier, keyOf(rule, request), context.cost ?? microCost(rule.cost.of(request)), context)
}

/** The key counts as the value of the rule's first source, such as a header. */
export function chargeOfKey(rule: Rule, key: string, context: ChargeContext): RuleCharge | undefined {
  const tier = tierOf(rule, NOBODY) ?? rule.tiers.at(-1)
  if (tier === undefined) return undefined
  return charge(rule, tier, valuesOf(rule, 0, key), context.cost ?? microCost(rule.cost.unknown), context)
}

/** As if `key` came from the source at this index. */
export function valuesOf(rule: Rule, index: number, key: string): KeyValues {
  const values: (string | undefined)[] = []
  for (const sources of rule.key)
    for (const source of sources) values.push(values.length === index ? (canonicalValue(source, key) ?? key) : undefined)
  return values
}

/** The charge stands for `sample` requests, but above the capacity it could never pass. */
export function timesSample(counted: RuleCharge, sample: number): RuleCharge {
  const { call } = counted
  const capacity = Math.max(call.cost, Math.round(call.limit.capacity * MICRO))
  return { ...counted, call: { ...call, cost: Math.min(call.cost * sample, capacity) } }
}

export function charge(rule: Rule, tier: Tier, values: KeyValues, cost: MicroTokens, context: ChargeContext): RuleCharge {
  const limit = context.override(rule, values) ?? tier.limit
  const scope = scopeOfTier(rule, tier, limit.algorithm.tag)
  const { pseudonym } = context
  const key = composeKey(pseudonym === undefined ? values : pseudonyms(rule.key.flat(), values, pseudonym))
  return { rule, tier, values, call: { id: { scope, key }, limit, cost, phase: phaseOf(limit, key) } }
}

/** The source's name is hashed too, so one text from two sources has two pseudonyms. */
export function pseudonyms(sources: KeyPart, values: KeyValues, pseudonym: Pseudonym): KeyValues {
  return values.map((value, index) => {
    const source = sources[index]
    return value === undefined || source?.neutral === true ? value : pseudonym(`${source?.text ?? ''}\0${value}`)
  })
}

/** A period that the policy states is reported as the window, unless an override replaces the limit. */
export function namedOf({ rule: { name }, tier, call: { limit } }: RuleCharge): NamedLimit {
  return tier.windowMs === undefined || limit !== tier.limit ? { name, limit } : { name, limit, windowMs: tier.windowMs }
}

/** The states that the key has under each algorithm, first under the one in force. Overrides and later policies may use another. */
export function idsOf({ rule, tier, call: { id, limit } }: RuleCharge): StateId[] {
  const others = TAGS.filter((tag) => tag !== limit.algorithm.tag)
  return [id, ...others.map((tag) => ({ scope: scopeOfTier(rule, tier, tag), key: id.key }))]
}

const EVERY_TAG: Readonly<Record<AlgorithmTag, true>> = { tb: true, fw: true, sc: true, sl: true, cc: true }
const TAGS = Object.keys(EVERY_TAG) as readonly AlgorithmTag[]

/** By algorithm: an override may use another than the tier. */
const scopes = new WeakMap<Tier, Map<string, Scope>>()

/**
 * Stores compare scopes by identity, so each scope is made once. No rule's name contains `#`. An override with the tier's algorithm uses
 * the tier's states.
 */
function scopeOfTier(rule: Rule, tier: Tier, tag: AlgorithmTag): Scope {
  let ofTier = scopes.get(tier)
  if (ofTier === undefined) scopes.set(tier, (ofTier = new Map<string, Scope>()))
  let scope = ofTier.get(tag)
  if (scope === undefined) ofTier.set(tag, (scope = scopeOf(RULE_SET, tier.label === '' ? rule.name : `${rule.name}#${tier.label}`, tag)))
  return scope
}

/** Enforcing charges, first the one that admits the fewest requests in the long run. */
export function enforcing(charges: readonly RuleCharge[]): readonly RuleCharge[] {
  const enforced = charges.every(enforces) ? charges : charges.filter(enforces)
  return enforced.length < 2 ? enforced : enforced.toSorted((a, b) => admissions(a.call) - admissions(b.call))
}

function enforces({ rule }: RuleCharge): boolean {
  return rule.mode === 'enforce'
}

/** The strictest failure policy of the rules. */
export function policyOf(charges: readonly RuleCharge[]): FailurePolicy {
  let policy: FailurePolicy = 'allow'
  for (const { rule } of charges) if (STRICTNESS[rule.onStoreFailure] > STRICTNESS[policy]) policy = rule.onStoreFailure
  return policy
}

const STRICTNESS: Readonly<Record<FailurePolicy, number>> = { allow: 0, local: 1, deny: 2 }

/** Requests of this cost per microsecond in the long run. A settlement may have a cost of 0, by which nothing can be divided. */
function admissions({ limit, cost }: { readonly limit: AnyLimit; readonly cost: number }): number {
  const { n, m } = limit.algorithm.envelope(limit.plan)
  return n / m / Math.max(1, cost)
}
