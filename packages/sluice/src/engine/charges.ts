import type { AnyLimit, MicroTokens } from '../algorithms/algorithm.ts'
import { MICRO, microCost } from '../algorithms/decimal.ts'
import { canonicalValue } from '../identity/canonical.ts'
import type { Request } from '../identity/request.ts'
import type { NamedLimit } from '../limiter/decide.ts'
import { phaseOf } from '../limiter/phase.ts'
import { composeKey, scopeOf } from '../keys/encode.ts'
import { keyOf, type OnStoreFailure, type Rule, type Tier, tierOf } from '../policy/rule.ts'
import type { Call, CallGroup, Scope } from '../stores/store.ts'
import type { Pseudonym } from './loaded.ts'

/** Names the states of all policies: a changed policy finds the states of the one before it. */
export const RULE_SET = 'policy'

/** One rule's part in one decision. */
export interface Charge {
  readonly rule: Rule
  readonly tier: Tier
  readonly named: NamedLimit
  readonly call: Call
  /** The values of the key in clear, absent ones as undefined. */
  readonly values: readonly (string | undefined)[]
}

/** What charges of one decision have in common. */
export interface Terms {
  /** The limit that stands instead of the tier's for this key. */
  override(rule: Rule, values: Charge['values']): AnyLimit | undefined
  /** What stands in keys for an attributable value; absent: the value itself. */
  readonly pseudonym: Pseudonym | undefined
}

/** What a rule charges a request, or undefined where none of its tiers applies. */
export function chargeOf(rule: Rule, request: Request, cost: MicroTokens | undefined, terms: Terms): Charge | undefined {
  const tier = tierOf(rule, request)
  return tier === undefined ? undefined : charge(rule, tier, keyOf(rule, request), cost ?? microCost(rule.cost.of(request)), terms)
}

/**
 * What a rule charges a key that is given outright: it stands for the first source of the rule's key, so that the state is the
 * one that requests with this value have.
 */
export function chargeOfKey(rule: Rule, key: string, request: Request, cost: MicroTokens | undefined, terms: Terms): Charge | undefined {
  const tier = tierOf(rule, request) ?? rule.tiers.at(-1)
  const values = rule.key.flat().map((source, index) => (index === 0 ? (canonicalValue(source, key) ?? key) : undefined))
  return tier === undefined ? undefined : charge(rule, tier, values, cost ?? microCost(rule.cost.unknown), terms)
}

/** The same charge for all the requests that a counted one stands for; never more than the limit holds, which could never pass. */
export function timesSample(counted: Charge, sample: number): Charge {
  const { call } = counted
  const capacity = Math.max(call.cost, Math.round(call.limit.capacity * MICRO))
  return { ...counted, call: { ...call, cost: Math.min(call.cost * sample, capacity) } }
}

function charge(rule: Rule, tier: Tier, values: Charge['values'], cost: MicroTokens, terms: Terms): Charge {
  const { windowMs } = tier
  const instead = terms.override(rule, values)
  const limit = instead ?? tier.limit
  const named = { name: rule.name, limit, ...(windowMs === undefined || instead !== undefined ? {} : { windowMs }) }
  const key = composeKey(terms.pseudonym === undefined ? values : pseudonyms(rule, values, terms.pseudonym))
  const call = { id: { scope: scopeFor(rule, tier, limit), key }, limit, cost, phase: phaseOf(limit, key) }
  return { rule, tier, named, values, call }
}

/** With the name of the source, so that one text in two places has two pseudonyms. */
function pseudonyms(rule: Rule, values: Charge['values'], pseudonym: Pseudonym): Charge['values'] {
  const sources = rule.key.flat()
  return values.map((value, index) => {
    const source = sources[index]
    return value === undefined || source?.neutral === true ? value : pseudonym(`${source?.text ?? ''}\0${value}`)
  })
}

const scopes = new WeakMap<Tier, Map<string, Scope>>()

/**
 * One scope per tier, for stores know scopes by identity. Tiers of one rule are limits of their own: `#` is in no rule's name. A limit that
 * stands instead of the tier's has the same states, unless it counts in another way.
 */
function scopeFor(rule: Rule, tier: Tier, { algorithm: { tag } }: AnyLimit): Scope {
  const known = scopes.get(tier) ?? new Map<string, Scope>()
  const found = known.get(tag)
  if (found !== undefined) return found
  const made = scopeOf(RULE_SET, tier.label === '' ? rule.name : `${rule.name}#${tier.label}`, tag)
  scopes.set(tier, known.set(tag, made))
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
